"""Many writers in one folder: none removes what another has just started."""

import os
import threading

import pytest

from chainrule.storage import open_run, write_run

ROUNDS, WRITERS = 40, 4


@pytest.mark.parametrize("replace", [False, True])
def test_writers_side_by_side_do_not_sweep_each_other(tmp_path, replace):
    failures = []

    def write(name):
        try:
            for turn in range(ROUNDS):
                target = tmp_path / (name if replace else f"{name}{turn}")
                write_run(target, lambda folder: (folder / "a").write_text(name) and None, replace=replace)
                assert open_run(target).file("a").read_text(encoding="utf-8") == name
        except Exception as error:  # reported below, from the test's own thread
            failures.append(repr(error))
    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"[:WRITERS]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(os.listdir(tmp_path)) == (WRITERS if replace else WRITERS * ROUNDS)
