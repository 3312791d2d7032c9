"""A process that is killed while it saves leaves a whole run or none, and its leftovers are swept."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chainrule.storage import open_run, write_run

ROOT = Path(__file__).parents[2]
SAVER = Path(__file__).with_name("saver.py")


def start(target, megabytes):
    return subprocess.Popen([sys.executable, SAVER, target, str(megabytes)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})


def version_of(run):
    """Every file of the run is of one and the same saving."""
    folder = open_run(run)
    versions = {folder.file(name).read_text(encoding="utf-8").split()[0] for name in "abcdef"}
    assert len(versions) == 1
    return int(versions.pop())


def kill_many_times(parent, times, number):
    """How many partial folders the killed processes left, after checking the run each time."""
    target, chance, left, last = parent / "run", random.Random(0), 0, 0
    for _ in range(times):
        process = start(target, 1)
        try:
            assert process.stdout.readline() == "saved\n", process.stderr.read()
            time.sleep(chance.uniform(0, 0.03))
            process.send_signal(number)
            process.communicate(timeout=600)
        finally:
            process.kill()
        assert process.returncode in (-number, 130 if number == signal.SIGINT else 128 + number)
        left += len(list(parent.glob(".*")))
        assert version_of(target) > last
        last = version_of(target)
    return left


def check_kill_9(parent, times):
    assert kill_many_times(parent, times, signal.SIGKILL) > 0  # some died in the middle of a saving
    write_run(parent / "run", lambda folder: None, replace=True)
    assert os.listdir(parent) == ["run"]


def test_ten_kills_leave_no_unreadable_folder(tmp_path):
    check_kill_9(tmp_path, 10)


@pytest.mark.slow
def test_a_hundred_kills_leave_no_unreadable_folder(tmp_path):
    check_kill_9(tmp_path, 100)


def test_the_first_saving_that_is_killed_leaves_no_run(tmp_path):
    for delay in (0.1, 0.15, 0.2):
        process = start(tmp_path / "run", 400)
        time.sleep(delay)
        process.kill()
        process.communicate(timeout=600)
        assert not (tmp_path / "run").exists() or version_of(tmp_path / "run")
    write_run(tmp_path / "other", lambda folder: None)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_writer_that_gets_sigterm_cleans_up_too(tmp_path, number):
    assert kill_many_times(tmp_path, 5, number) == 0
    assert os.listdir(tmp_path) == ["run"]
