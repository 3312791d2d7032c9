"""A person at a terminal sees one line for each model of a comparison, and no scrolling log."""

import os
import pty
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import warm_python

from chainrule.cli.terminal.trials_shown import shown_trials

ROOT = Path(__file__).parents[3]


def on_terminal(command, folder):
    """What appears on the terminal of a command, without the signs that move the cursor."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "160"}
    process = subprocess.Popen([warm_python.chainrule(), *command], stdout=subprocess.PIPE, stderr=theirs,
                               cwd=folder, env=environment)
    os.close(theirs)
    shown = b""
    with open(ours, "rb", buffering=0) as file, suppress(OSError):
        while data := file.read(4096):
            shown += data
    printed = process.communicate(timeout=600)[0].decode()
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace")), printed


def test_each_model_is_one_line_with_a_bar(tmp_path):
    (tmp_path / "text.txt").write_text("".join(f"line {i} of a text with {i % 7} words\n" for i in range(200)))
    command = ["compare", "ngram", "ngram", "model.order=2", "--data", "text.txt", "--out", "report"]
    shown, printed = on_terminal(command, tmp_path)
    last = shown.replace("\r", "\n").split("\n")
    bars = {line.split(" ━")[0].strip() for line in last if "━" in line}
    assert bars == {"[1/2] ngram", "[2/2] ngram order=2"} and "started." not in shown
    assert "chainrule: ngram, ngram order=2: as the recipe says, whatever the budget" in shown
    assert "bits/byte" in printed and "━" not in printed
    again, _ = on_terminal(command, tmp_path)
    assert again.count("already finished") >= 2


def test_a_pipe_gets_no_bars(capsys):
    with shown_trials() as progress:
        assert progress is None
