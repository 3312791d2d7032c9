"""Trials on a real Ray cluster of two workers, one of which is killed in the middle: the trial is run again."""

import json
import os
import signal
import time
from pathlib import Path
from threading import Thread

import pytest

import chainrule

NEURAL = """family: neural
tokenizer: bytes
model: {pattern: r, width: 16, context: 16, r: lstm, position: none}
training: {budget: {steps: 5}, batch: 4, keep: 1, log_every: 5, save_every: 0.1}
"""


@pytest.fixture
def two_workers(monkeypatch):
    ray = pytest.importorskip("ray")
    from chainrule.experiments.engines.ray import connected

    monkeypatch.setenv("PYTHONPATH", str(Path(chainrule.__file__).parents[1]))
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(address="local", num_cpus=2, num_gpus=0, log_to_driver=False, object_store_memory=100 << 20)
    yield connected()
    ray.shutdown()


def kill_once(path, killed):
    """Kills the worker that reports in this file, when it has made some steps."""
    until = time.monotonic() + 300
    while time.monotonic() < until and not killed:
        lines = path.read_text().splitlines() if path.exists() else []
        if len(lines) > 1:
            killed.append(json.loads(lines[0])["pid"])
            os.kill(killed[0], signal.SIGKILL)
        time.sleep(0.02)


def ablated(corpus, folder, budget):
    """The report of an ablation one of whose workers is killed, and the worker's process id."""
    (folder / "small.yaml").write_text(NEURAL)
    out, killed = folder / "report", []
    thread = Thread(target=kill_once, args=(out / "trials" / "r-gru.progress", killed))
    thread.start()
    report = chainrule.ablate([str(folder / "small.yaml"), "model.r=gru"], corpus, out, budget=budget,
                              terms=chainrule.AblationTerms(on="ray"))
    thread.join()
    return report, killed, out


@pytest.mark.slow
def test_a_trial_whose_worker_is_killed_is_run_again_and_the_report_is_whole(two_workers, corpus, tmp_path, caplog):
    caplog.set_level("INFO", "chainrule")
    report, killed, out = ablated(corpus, tmp_path, "100ktok")
    assert "[2/2] r=gru: its worker died; it is run again." in caplog.text
    pids = [facts["pid"] for line in (out / "trials" / "r-gru.progress").read_text().splitlines()
            if "pid" in (facts := json.loads(line))]
    assert len(pids) == 2 and pids[0] == killed[0] != pids[1]
    assert [(row["name"], row["status"]) for row in report["rows"]] == [("small", "ok"), ("r=gru", "ok")]
    assert report["rows"][0]["tokens"] == report["rows"][1]["tokens"] and report["rows"][1]["effect"] is not None
    assert "--on ray" in report["command"]
