"""Results on standard output, all else on standard error; JSON that every reader accepts."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.cli.terminal import console
from chainrule.cli.terminal.console import emit, progress, say, table
from chainrule.storage.json_text import json_text, json_value

ROOT = Path(__file__).parents[3]
NESTED = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                      lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(NESTED)
def test_whatever_the_result_json_is_strict(value):
    def refuse(word):
        raise AssertionError(word)
    assert json.loads(json_text({"value": value}), parse_constant=refuse)["value"] == json_value(value)


@pytest.mark.parametrize(("value", "said"), [
    (float("nan"), None), (float("-inf"), None), (np.float32(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True),
    (np.array([[1.0, np.nan]]), [[1.0, None]]), ((1, 2), [1, 2]), ({2, 1}, [1, 2]), (Path("a/b"), "a/b"),
    ({1: np.float64("inf")}, {"1": None})])
def test_numpy_and_python_values_are_made_plain(value, said):
    assert json_value(value) == said


def test_json_is_one_line_and_people_get_their_own(capsys):
    emit({"a": "é", "b": float("nan")}, True, print)
    assert capsys.readouterr().out == '{"a": "é", "b": null}\n'
    emit({"a": 1}, False, lambda data: print("a is", data["a"]))
    assert capsys.readouterr().out == "a is 1\n"


def test_messages_go_to_standard_error(capsys):
    say("one\ntwo")
    assert capsys.readouterr() == ("", "chainrule: one\nchainrule: two\n")


def test_tables_are_aligned(capsys):
    table(["name", "count", "p"], [("漢字", 1234, 0.5), ("a", 5, 1e-9)])
    assert capsys.readouterr().out == "name  count      p\n漢字  1,234    0.5\na         5  1e-09\n"


def test_an_empty_table_has_its_head(capsys):
    table(["name", "count"], [])
    assert capsys.readouterr().out == "name  count\n"


def test_quick_work_prints_nothing_without_a_terminal(capsys):
    with progress("counting", 10) as step:
        for _ in range(10):
            step(1)
    assert capsys.readouterr() == ("", "")


def test_long_work_prints_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(console, "QUIET_SECONDS", 0)
    with progress("counting", 4) as step:
        step(1)
        step(2)
    with progress("reading") as step:
        step(1500)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(" after")[0] for line in lines] == [
        "chainrule: counting: 25 %", "chainrule: counting: 75 %", "chainrule: reading: 1,500"]


def test_a_terminal_shows_a_progress_bar():
    ours, theirs = pty.openpty()
    code = "from chainrule.cli.terminal.console import progress\nwith progress('counting', 2) as step: step(1); step(1)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=theirs, timeout=600,
                          env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"counting" in os.read(ours, 10000)
    os.close(ours)


def test_the_last_column_of_a_table_goes_on_below_itself_in_a_terminal_only():
    code = ("from chainrule.cli.terminal.console import table; "
            "table(['a', 'b'], [('x', 'one two three four five six seven')])")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "30"}
    piped = subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True, timeout=600).stdout
    assert piped == "a  b\nx  one two three four five six seven\n"
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", code], env=env, stdout=theirs, timeout=600, check=True)
    os.close(theirs)
    shown = os.read(ours, 10000).decode().replace("\r\n", "\n")
    os.close(ours)
    assert shown == "a  b\nx  one two three four five six\n   seven\n"
