"""The benchmarks of neural models run, and say what they measured; how fast a test machine is proves nothing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
PEER = pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="the peer is not installed")
ONCE = ["--rounds", "1", "--threads", "1", "--sizes"]


def rows(name, *words, out):
    done = subprocess.run([sys.executable, FOLDER / name, *words, "--out", out], capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


@PEER
def test_generation_is_compared_with_transformers(tmp_path):
    found, = rows("generation.py", *ONCE, "small", "--tokens", "4", "--batches", "2", out=tmp_path / "out.jsonl")
    mine, other = found["parameters"].values()
    assert mine == other and found["ratio"] > 0 and found["tokens_per_second"]["transformers"] > 0


@PEER
def test_training_is_compared_with_transformers_and_torch(tmp_path):
    found = rows("training.py", *ONCE, "small", "lstm-small", "--steps", "1", out=tmp_path / "out.jsonl")
    assert [row["name"] for row in found] == ["small", "lstm-small"]
    for row in found:
        mine, other = row["parameters"].values()
        assert mine == other and row["ratio"] > 0


def test_the_benchmark_of_training_on_a_gpu_runs_tiny_on_a_cpu(tmp_path):
    found, = rows("gpu_training.py", "--tiny", "--seconds", "0", "--accumulation", "2", out=tmp_path / "out.jsonl")
    assert found["steps"] == 3 and found["tokens_per_second"] > 0


def test_the_ways_of_generating_on_a_gpu_agree_tiny_on_a_cpu(tmp_path):
    found = rows("gpu_generation.py", "--tiny", "--batches", "3", "--prompt", "5", "--tokens", "30", "--rounds", "1",
                 out=tmp_path / "out.jsonl")
    assert [row["agreement"] for row in found if "agreement" in row] == [1.0, 1.0], "greedy and sampled"


def test_the_benchmark_of_experts_runs_tiny_on_a_cpu(tmp_path):
    dense, *switched = rows("experts.py", "--tiny", "--seconds", "0", "--experts", "3", out=tmp_path / "out.jsonl")
    assert dense["ratio_to_dense"] == 1 and [row["model"] for row in switched] == ["switch, capacity 1",
                                                                                   "switch, capacity 1.25"]
    for row in switched:
        assert row["parameters"] > 1.5 * dense["parameters"] and row["milliseconds"] > 0
        assert row["training_mflop_per_token"] < 1.5 * dense["training_mflop_per_token"]


def test_the_benchmark_of_mixers_runs_tiny_on_a_cpu(tmp_path):
    found = rows("mixers.py", "transformer", "min-gru", "fnet", "--width", "16", "--context", "8", "--batch", "2",
                 "--written", "3", out=tmp_path / "out.jsonl")
    assert [row["recipe"] for row in found] == ["transformer", "min-gru", "fnet"]
    assert all(row["training"] > 0 and row["width"] == 16 for row in found)
    assert [row["writing"] > 0 for row in found] == [True, True, False], "what reads both ways writes nothing"
