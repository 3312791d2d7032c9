"""A run folder is written whole or not at all; what was there before stays until the new one is in place."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chainrule.errors import StorageError
from chainrule.storage import check_target, open_run, write_run
from chainrule.storage.swapping import _in_three_steps, aside, swap

ROOT = Path(__file__).parents[2]


def files(**texts):
    def fill(folder):
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    return fill


def test_a_run_has_its_files_and_a_manifest(tmp_path):
    write_run(tmp_path / "run", files(a="1", b="22"))
    assert sorted(os.listdir(tmp_path / "run")) == ["MANIFEST.json", "a", "b"]
    assert {name: entry.size for name, entry in open_run(tmp_path / "run").files.items()} == {"a": 1, "b": 2}
    assert os.listdir(tmp_path) == ["run"]


def test_folders_inside_belong_to_the_run(tmp_path):
    def fill(folder):
        (folder / "checkpoints" / "step-1").mkdir(parents=True)
        (folder / "checkpoints" / "step-1" / "état").write_text("x", encoding="utf-8")
    write_run(tmp_path / "run", fill)
    assert open_run(tmp_path / "run").file("checkpoints/step-1/état").read_text(encoding="utf-8") == "x"


def test_missing_parents_are_made(tmp_path):
    write_run(tmp_path / "a" / "b" / "run", files(x="1"))
    assert open_run(tmp_path / "a" / "b" / "run").files


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_decides_who_may_read(tmp_path, umask, mode):
    def fill(folder):
        (folder / "secret").touch(mode=0o600)  # as safetensors does
    before = os.umask(umask)
    try:
        write_run(tmp_path / "run", fill)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "run").iterdir()} == {mode}


def test_a_failure_leaves_nothing_behind(tmp_path):
    def fill(folder):
        (folder / "half").write_text("x", encoding="utf-8")
        raise RuntimeError("boom")
    with pytest.raises(RuntimeError, match="boom"):
        write_run(tmp_path / "run", fill)
    assert os.listdir(tmp_path) == []


def test_an_older_run_is_kept_unless_it_may_be_replaced(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    with pytest.raises(StorageError, match="run: there is a run already. .* --force"):
        write_run(tmp_path / "run", files(a="new"))
    assert (tmp_path / "run" / "a").read_text(encoding="utf-8") == "old"
    write_run(tmp_path / "run", files(b="new"), replace=True)
    assert list(open_run(tmp_path / "run").files) == ["b"] and os.listdir(tmp_path) == ["run"]


def test_a_failing_replacement_keeps_the_old_run(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    with pytest.raises(ZeroDivisionError):
        write_run(tmp_path / "run", lambda folder: 1 / 0, replace=True)
    assert open_run(tmp_path / "run").file("a").read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.parametrize("replace", [False, True])
def test_what_is_not_a_run_is_never_deleted(tmp_path, replace):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(StorageError, match="thesis: exists and is not a run folder, so it is left alone"):
        write_run(tmp_path / "thesis", files(a="1"), replace=replace)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StorageError, match="file: a file is there"):
        write_run(tmp_path / "file", files(a="1"), replace=replace)
    with pytest.raises(StorageError, match="is a file, expected a folder"):
        write_run(tmp_path / "file" / "run", files(a="1"), replace=replace)
    assert (tmp_path / "thesis" / "chapter1.tex").exists() and (tmp_path / "file").read_text(encoding="utf-8") == "x"


def test_a_run_with_foreign_files_is_not_replaced(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="holds 'notes.txt', which is not part of the run"):
        write_run(tmp_path / "run", files(a="new"), replace=True)


def test_a_file_that_comes_while_the_new_run_is_made_stops_the_replacement(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    with pytest.raises(StorageError, match="holds 'notes.txt'"):
        write_run(tmp_path / "run", lambda _: (tmp_path / "run" / "notes.txt").write_text("x") and None, replace=True)
    assert (tmp_path / "run" / "notes.txt").exists()


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "run").mkdir()
    write_run(tmp_path / "run", files(a="1"))
    assert open_run(tmp_path / "run").files


def test_a_link_to_a_run_stays_a_link(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    (tmp_path / "latest").symlink_to("run")
    write_run(tmp_path / "latest", files(a="new"), replace=True)
    assert (tmp_path / "latest").is_symlink() and open_run(tmp_path / "run").file("a").read_text() == "new"


def test_of_two_writers_at_once_one_wins_and_one_gets_an_error(tmp_path):
    barrier, outcomes = threading.Barrier(2, timeout=600), []

    def write(text):
        def fill(folder):
            (folder / "a").write_text(text, encoding="utf-8")
            barrier.wait()
        try:
            write_run(tmp_path / "run", fill)
            outcomes.append("won")
        except StorageError as error:
            outcomes.append(str(error))
    threads = [threading.Thread(target=write, args=(text,)) for text in ("1", "2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "won" in outcomes and any("another process has written there meanwhile" in outcome for outcome in outcomes)
    assert open_run(tmp_path / "run").files and os.listdir(tmp_path) == ["run"]


def test_partial_folders_of_the_dead_are_swept_and_those_of_the_living_kept(tmp_path):
    dead = tmp_path / ".other.partial-123-0123abcd"
    dead.mkdir()
    (dead / "model.safetensors").write_text("half", encoding="utf-8")
    code = ("import sys; from pathlib import Path; from chainrule.storage.partial import partial_folder\n"
            "with partial_folder(Path(sys.argv[1])) as folder: print(folder, flush=True); sys.stdin.read()")
    living = subprocess.Popen([sys.executable, "-c", code, tmp_path / "big"], cwd=ROOT, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    theirs = Path(living.stdout.readline().strip())
    bystander = tmp_path / ".my.partial-notes"
    bystander.mkdir()
    write_run(tmp_path / "run", files(a="1"))
    assert not dead.exists() and theirs.exists() and bystander.exists()
    living.communicate(timeout=600)
    assert not theirs.exists()


def test_the_longest_name_a_file_system_allows_can_be_written(tmp_path):
    write_run(tmp_path / ("é" * 127), files(a="1"))
    assert open_run(tmp_path / ("é" * 127)).files
    with pytest.raises(StorageError, match="not saved: File name too long|File name too long"):
        write_run(tmp_path / ("x" * 300), files(a="1"))


@pytest.mark.parametrize("exchange", [swap, _in_three_steps])
def test_two_folders_change_places(tmp_path, exchange):
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "is").write_text(name, encoding="utf-8")
    exchange(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old" / "is").read_text() == "new" and (tmp_path / "new" / "is").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]


def test_a_swap_that_fails_halfway_is_undone(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(FileNotFoundError):
        _in_three_steps(tmp_path / "gone", tmp_path / "old")
    assert os.listdir(tmp_path) == ["old"]


def test_a_swap_that_was_killed_halfway_keeps_the_old_run_and_says_where(tmp_path):
    write_run(tmp_path / "run", files(a="old"))
    os.rename(tmp_path / "run", aside(tmp_path / "run"))
    with pytest.raises(StorageError, match="cut short; the earlier run is whole in .*.run.replaced. Rename it back."):
        open_run(tmp_path / "run")
    write_run(tmp_path / "run", files(a="new"))
    assert os.listdir(tmp_path) == ["run"]


def test_a_target_can_be_asked_about_before_hours_of_work(tmp_path):
    check_target(tmp_path / "new" / "run")
    assert os.listdir(tmp_path) == []
    write_run(tmp_path / "run", files(a="1"))
    with pytest.raises(StorageError, match="there is a run already"):
        check_target(tmp_path / "run")
    check_target(tmp_path / "run", replace=True)
