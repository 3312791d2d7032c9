"""The folder of a comparison: the best is a link or a copy, one process works in it, a missing page is one line."""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from chainrule.errors import ChainruleError, StorageError
from chainrule.experiments import folder, report
from chainrule.experiments.folder import locked, point_to_best


def filled(folder):
    for name in ("a", "b"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "file").write_text(name)


def test_the_best_is_a_link_that_moves(tmp_path):
    filled(tmp_path)
    for name in ("a", "b", "b"):
        point_to_best(tmp_path, f"runs/{name}")
        assert os.readlink(tmp_path / "best") == f"runs/{name}" and (tmp_path / "best" / "file").read_text() == name
    point_to_best(tmp_path, None)
    assert not os.path.lexists(tmp_path / "best") and (tmp_path / "runs" / "b" / "file").exists()


def test_without_links_the_best_is_a_copy(tmp_path, monkeypatch):
    filled(tmp_path)

    def refused(*_, **__):
        raise OSError("no links here")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "symlink_to", refused)
        for name in ("a", "b"):
            point_to_best(tmp_path, f"runs/{name}")
            assert not (tmp_path / "best").is_symlink() and (tmp_path / "best" / "file").read_text() == name
    point_to_best(tmp_path, "runs/a")  # and a link again where there are links
    assert (tmp_path / "best").is_symlink() and (tmp_path / "runs" / "b" / "file").read_text() == "b"


def test_two_processes_do_not_work_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "WAIT", 0.3)
    with locked(tmp_path / "report"), pytest.raises(StorageError, match="another comparison is running there"), \
            locked(tmp_path / "report"):
        raise AssertionError("both were let in")


def test_a_process_that_is_ending_is_waited_for(tmp_path):
    entered = []
    with locked(tmp_path / "report"):
        waiting = threading.Thread(target=lambda: entered.extend(_entered(tmp_path / "report")))
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive() and not entered
    waiting.join(10)
    assert entered == [True]


def _entered(out):
    with locked(out):
        return [True]


def test_a_page_that_cannot_be_made_is_one_line(tmp_path, monkeypatch, caplog):
    def unbuilt(*_, **__):
        raise ChainruleError("the scripts of the pages are not built.")

    monkeypatch.setattr("chainrule.pages.page.write_page", unbuilt)
    caplog.set_level("INFO", "chainrule")
    comparison = SimpleNamespace(source=SimpleNamespace(data=("text.txt",)))
    made = {"best": None, "ranked_by": "bits_per_byte", "rows": []}
    report._page(comparison, SimpleNamespace(out=tmp_path), made, {})
    assert [record.message for record in caplog.records] == [
        "report.html was not written: the scripts of the pages are not built."]
