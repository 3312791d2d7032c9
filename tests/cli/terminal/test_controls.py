"""What a text or a file's name holds cannot steer the terminal; a pipe gets every byte."""

import os
import pty
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import warm_python

from chainrule.cli.terminal.controls import visible

ROOT = Path(__file__).parents[3]
HOSTILE = "\x1b]0;owned\x07\x1b[2J"  # a new title for the window, and an empty screen


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a text that has hostile words."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "text.txt").write_text(f"a{HOSTILE} to be read by many a person b{HOSTILE}\n" * 200)
    assert piped(folder, "train", "ngram", "--data", "text.txt", "--out", "run", "model.order=2").returncode == 0
    return folder


def started(folder, words, **streams):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "200"}
    return subprocess.Popen([warm_python.chainrule(), *words], cwd=folder, env=env, **streams)


def piped(folder, *words):
    process = started(folder, words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=600)
    return subprocess.CompletedProcess(words, process.returncode, out.decode(), err.decode())


def in_terminal(folder, *words):
    ours, theirs = pty.openpty()
    process = started(folder, words, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with open(ours, "rb", buffering=0) as file, suppress(OSError):  # Linux tells the end as an error
        while data := file.read(4096):
            shown += data
    process.wait(timeout=600)
    return shown.decode()


def test_controls_are_spelled_out_except_newline_and_tab():
    assert visible("a\x1b[0m\tb\r\n\x00\x07\x7f\x9b é漢") == "a\\x1b[0m\tb\\x0d\n\\x00\\x07\\x7f\\x9b é漢"


@pytest.mark.parametrize("words", [
    ("generate", "run", "--prompt", f"a{HOSTILE}", "--seed", "1", "--max-tokens", "20"),
    ("inspect", "run", "--text", f"a{HOSTILE} b{HOSTILE} a{HOSTILE}"),
    ("score", "run", "--tokens", "text.txt"),
])
def test_a_model_that_writes_escapes_cannot_steer_the_terminal(folder, words):
    shown = in_terminal(folder, *words)
    assert "\\x1b]0;owned\\x07\\x1b[2J" in shown, shown[-2000:]
    assert "\x07" not in shown and "\x1b]" not in shown and "\x1b[2J" not in shown


@pytest.mark.parametrize("words", [
    ("verify", f"missing{HOSTILE}"),
    ("train", "ngram", "--data", f"missing{HOSTILE}.txt", "--out", "other"),
    ("train", f"missing{HOSTILE}", "--data", "text.txt", "--out", "other"),
    (f"missing{HOSTILE}",),
    ("verify", "run", f"--{HOSTILE}"),
])
def test_messages_with_hostile_names_cannot_steer_the_terminal(folder, words):
    shown = in_terminal(folder, *words)
    assert "chainrule: " in shown and "x1b" in shown, shown
    assert "\x07" not in shown and "\x1b]" not in shown and "\x1b[2J" not in shown


def test_a_step_with_a_hostile_name_cannot_steer_the_terminal(folder):
    name = f"[bold]{HOSTILE}.vec"
    (folder / name).write_text("2 2\na 1 2\nb 3 4\n")
    shown = in_terminal(folder, "import", name, "--out", "vectors")
    assert "importing [bold]\\x1b]0;owned" in shown and "saved in vectors" in shown, shown
    assert "\x07" not in shown and "\x1b]" not in shown


def test_a_pipe_gets_the_text_as_it_is(folder):
    done = piped(folder, "generate", "run", "--prompt", f"a{HOSTILE}", "--seed", "1", "--max-tokens", "20")
    assert HOSTILE in done.stdout and "\\x1b" not in done.stdout
