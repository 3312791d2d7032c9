"""Who waits for training sees the step it is at: a bar in a terminal, lines in a log file, nothing for quick work."""

import logging
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from chainrule.cli.app import main
from chainrule.cli.terminal import console
from chainrule.cli.terminal.stepping import log, shown_steps
from chainrule.verbs.train import train

ROOT = Path(__file__).parents[3]


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n" * 5)
    return tmp_path / "text.txt"


def test_a_log_file_has_a_line_for_each_step_that_took_long(text, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(console, "QUIET_SECONDS", 0)
    with shown_steps():
        train("ngram", text, tmp_path / "run")
    lines = [line for line in capsys.readouterr().err.splitlines() if "too little" not in line]
    assert lines == [f"chainrule: {step}, after 0 s." for step in ("reading", "counting", "smoothing", "saving")]


def test_the_log_handler_is_removed_at_the_end():
    before = log.level, list(log.handlers)
    with shown_steps():
        assert log.isEnabledFor(logging.DEBUG)
    assert (log.level, log.handlers) == before


def test_quick_or_unfollowed_work_prints_nothing(text, tmp_path, capsys, monkeypatch):
    with shown_steps():
        train("ngram", text, tmp_path / "run")
    monkeypatch.setattr(console, "QUIET_SECONDS", 0)
    train("ngram", text, tmp_path / "other")
    assert "after" not in capsys.readouterr().err


def test_other_slow_work_reports_its_steps_too(tmp_path, capsys, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr(console, "QUIET_SECONDS", 0)
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("the cat sat on the mat and the dog ran off\n" * 9)
    Path("pairs.txt").write_text("cat dog 5\nthe mat 1\n")
    Path("labeled.txt").write_text("__label__a cat dog\n__label__b mat\n")
    small = "model.dimension=3", "training.threads=1"
    for words, step in (
        (["train", "ppmi", "--data", "text.txt", "--out", "run", *small], "3 singular vectors of "),
        (["evaluate", "run", "--data", "pairs.txt"], "similarity: pairs.txt, after"),
        (["inspect", "run", "--map", "--method", "tsne"], "placing 9 words by t-SNE, after"),
        (["train", "text-classifier", "--data", "labeled.txt", "--out", "labels", *small], "training, after"),
        (["quantize", "labels", "--out", "small"], "quantizing 4 vectors, after"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code and step in capsys.readouterr().err


def test_a_terminal_shows_steps_and_messages_in_whole_lines(text, tmp_path):
    command = [sys.executable, "-m", "chainrule", "train", "ngram", "--data", text, "--out", tmp_path / "run", "--json"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs,
                               env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "200"})
    os.close(theirs)
    shown = "".join(read_all(ours))
    assert process.communicate(timeout=600)[0].startswith(b'{"run": ') and process.returncode == 0
    assert "saving" in shown
    assert "chainrule: too little text" in shown


def test_a_person_sees_that_a_file_is_being_imported_and_exported(tmp_path):
    (tmp_path / "some.vec").write_text("2 2\na 1 2\nb 3 4\n")
    for words, seen in ((["import", "some.vec", "--out", "run"], "importing some.vec"),
                        (["export", "run", "--to", "glove", "some.txt"], "exporting to some.txt")):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([sys.executable, "-m", "chainrule", *words], stdout=subprocess.PIPE, stderr=theirs,
                                   cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"})
        os.close(theirs)
        assert seen in "".join(read_all(ours))
        assert process.communicate(timeout=600)[0] and process.returncode == 0


def read_all(terminal):
    """What appears on a terminal until its last writer has gone, which Linux tells as an error."""
    with open(terminal, "rb", buffering=0) as file, suppress(OSError):
        while data := file.read(4096):
            yield data.decode(errors="replace")
