"""A comparison that is interrupted, killed, or one of whose processes is killed: nothing finished is lost."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm_python

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable  # a real one, where processes are stopped, killed or limited
BUDGET = "60ktok"  # so long that there is time to stop it


def begun(out, corpus, *words, budget=BUDGET, limit=None, python=PYTHON):
    args = [python, "-m", "chainrule", "compare", *map(str, words), "--data", str(corpus), "--budget", budget,
            "--out", str(out), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=limit)


def wait_for(path, process, seconds=600):
    """Until training has begun to write."""
    until = time.monotonic() + seconds
    while not (path.exists() and path.stat().st_size):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.02)


def trial(out):
    """The process ids of trainings for this report."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended meanwhile
        if b"chainrule.experiments.trial" in words and any(word.startswith(os.fsencode(out)) for word in words):
            found.append(int(path.parent.name))
    return found


def finished(out, corpus, *words, **more):
    process = begun(out, corpus, *words, **({} if "limit" in more else {"python": warm_python.python()}), **more)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return json.loads(output), errors


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the process in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_a_signal_the_same_command_continues(number, corpus, neural, tmp_path):
    out = tmp_path / "report"
    process = begun(out, corpus, "ngram", neural)
    wait_for(out / "runs" / ".small.training" / "metrics.jsonl", process)
    counted = (out / "runs" / "ngram" / "model.safetensors").stat().st_mtime_ns
    process.send_signal(number)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == (130 if number == signal.SIGINT else -9), errors
    assert number == signal.SIGKILL or "stopped; the same command continues from here." in errors
    assert number == signal.SIGKILL or not trial(out)  # Ctrl-C waits for the training to save itself
    assert not (out / "report.json").exists() and "Traceback" not in errors
    report, said = finished(out, corpus, "ngram", neural)
    assert "[1/2] ngram: already finished." in said
    assert [row["status"] for row in report["rows"] if row["kind"] == "model"] == ["ok", "ok"]
    assert (out / "runs" / "ngram" / "model.safetensors").stat().st_mtime_ns == counted
    resumed = "resuming at step" in (out / "trials" / "small.log").read_text()
    assert resumed or number == signal.SIGKILL  # an orphan notices after half a second, and may have finished
    tokens = {row["name"]: row["tokens"] for row in report["rows"]}
    assert tokens["small"] == 60_032  # 938 steps of 64 tokens, in two sessions


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the process in /proc")
def test_a_training_that_is_killed_is_one_row(corpus, neural, tmp_path):
    out = tmp_path / "report"
    process = begun(out, corpus, neural, "ngram")
    wait_for(out / "runs" / ".small.training" / "metrics.jsonl", process)
    for pid in trial(out):
        os.kill(pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    rows = {row["name"]: row for row in json.loads(output)["rows"]}
    assert rows["small"]["status"] == "failed" and "killed (signal 9), usually because" in rows["small"]["why"]
    assert rows["ngram"]["status"] == "ok" and json.loads(output)["best"] == "ngram"


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


@pytest.mark.slow
def test_running_out_of_memory_is_one_row(corpus, neural, tmp_path):
    report, _ = finished(tmp_path / "report", corpus, neural, "model.width=14000", "ngram", limit=little_memory)
    rows = {row["name"]: row for row in report["rows"]}
    assert rows["small width=14000"]["why"].startswith("out of memory.") and rows["ngram"]["status"] == "ok"


@pytest.mark.parametrize(("budget", "words"), [
    ("1tok", "the budget of 1 tokens is too small to train anything: a single step takes 64 tokens"),
    pytest.param("10flop", "the budget of 10 FLOPs is too small to train anything: a single step takes",
                 marks=pytest.mark.slow)])
def test_a_budget_too_small_to_train_anything_says_so(budget, words, corpus, neural, tmp_path):
    process = begun(tmp_path / "report", corpus, neural, budget=budget, python=warm_python.python())
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 1 and "all recipes failed" in errors
    assert json.loads(output)["rows"][0]["why"].startswith(words)


def test_a_budget_in_flops_is_kept_within_a_hundredth(corpus, neural, tmp_path):
    report, _ = finished(tmp_path / "report", corpus, neural, budget="1e9flop")
    row = report["rows"][0]
    assert abs(row["flops"] - 1e9) < 1e7 and row["steps"] > 100
