"""The benchmark of the engine runs: both sides compute the same losses, and it says what it measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "engine.py"


def test_the_engine_is_compared_with_torch(tmp_path):
    out = tmp_path / "out.jsonl"
    done = subprocess.run([sys.executable, SCRIPT, "--rounds", "1", "--steps", "1", "--threads", "1", "--out", out],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["name"] for row in found] == ["network-1", "network-64", "elman", "transformer"]
    assert all(row["ratio"] > 0 and row["milliseconds"]["torch"] > 0 for row in found)
