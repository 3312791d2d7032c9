"""Where trials run: slots of this machine, what processes find there, and what an engine is called."""

import json

import pytest

from chainrule.errors import OptionError, UsageError
from chainrule.experiments.engines import _slots
from chainrule.experiments.engines._engine import Work
from chainrule.experiments.engines._slots import gpus, slots
from chainrule.experiments.engines.here import Here, exit_message
from chainrule.experiments.terms import Terms
from chainrule.training.plan import Budget


def test_a_machine_without_gpus_runs_one_at_a_time_in_the_environment_as_it_is(monkeypatch):
    monkeypatch.setattr(_slots, "gpus", list)
    assert [slot.environment for slot in slots(1)] == [{}]


def test_trials_side_by_side_share_the_cores(monkeypatch):
    monkeypatch.setattr(_slots, "gpus", list)
    monkeypatch.setattr(_slots, "cores", lambda: 7)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [slot.environment for slot in slots(3)] == [{"OMP_NUM_THREADS": "2"}] * 3
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert [slot.environment for slot in slots(3)] == [{}] * 3


def test_every_gpu_is_a_slot(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 5")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert gpus() == ["2", "5"]
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots(2)] == ["2", "5", "2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus() == []


class Heard:
    """Keeps what it is told."""

    def __init__(self):
        self.told = []

    def __getattr__(self, what):
        return lambda *given: self.told.append((what, *given))


def test_trials_that_cannot_be_read_fail_with_the_last_line_of_their_log(tmp_path):
    """Two processes side by side: each reports under its own name."""
    works = []
    for name in "ab":
        (tmp_path / f"{name}.task.json").write_text(json.dumps({"run": "x"}))
        works.append(Work(f"[1/2] {name}", name, tmp_path / f"{name}.task.json", Budget(steps=1)))
    heard = Heard()
    with (tmp_path / "lock").open("w") as lock:
        failures = Here(2).run(works, heard, lock.fileno())
    assert failures.keys() == {"a", "b"}
    assert all("exit code 1: KeyError: 'source'" in why and "see trials/" in why for why in failures.values())
    assert heard.told[:2] == [("started", "[1/2] a"), ("started", "[1/2] b")]
    assert {told[1] for told in heard.told[2:]} == {"[1/2] a", "[1/2] b"}


def test_files_of_a_trial_lie_beside_its_task(tmp_path):
    work = Work("", "width-0.5", tmp_path / "width-0.5.task.json", Budget(steps=1))
    assert work.result == tmp_path / "width-0.5.json" and work.log == tmp_path / "width-0.5.log"


def test_signals_are_named(tmp_path):
    assert exit_message(-9, tmp_path).startswith("killed (signal 9), usually because memory ran out")
    assert exit_message(-11, tmp_path) == "ended by signal 11 (SIGSEGV)."


def test_an_engine_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="named 'rya'. Did you mean 'ray'?"):
        Terms(on="rya").engine()
    with pytest.raises(OptionError, match="--side-by-side = 0, expected at least 1"):
        Terms(side_by_side=0).engine()


def test_what_a_worker_of_a_cluster_reports_is_passed_on_line_by_line(tmp_path, caplog):
    from chainrule.experiments.engines.ray import _Reports, report_of

    caplog.set_level("INFO", "chainrule")
    work, heard = Work("[1/1] a", "a", tmp_path / "a.task.json", Budget(tokens=100)), Heard()
    reports = _Reports(work, heard)
    with report_of(work).open("a") as file:
        for text in ('{"pid": 1}\n{"progress": 0.5, "st', 'ep": 1}\n', '{"pid": 2}\n{"stage": "measuring"}\n'):
            file.write(text)
            file.flush()
            reports.read()
    assert [told[0] for told in heard.told] == ["started", "came", "measuring"]
    assert heard.told[1] == ("came", "[1/1] a", {"progress": 0.5, "step": 1}, "50% of 100 tokens")
    assert "[1/1] a: its worker died; it is run again." in caplog.text
    assert reports.ended(None).startswith("no result in") and reports.ended("gone") == "gone"
    work.result.write_text("{}")
    assert reports.ended(None) is None
