"""The benchmark of vector files runs, and says what it measured; how fast a test machine is proves nothing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(importlib.util.find_spec("gensim") is None, reason="the peer is not installed")
def test_files_of_vectors_are_compared_with_gensim(tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "vector_files.py", "--words", "300", "--dimension", "9",
                           "--questions", "20", "--rounds", "1", "--out", tmp_path / "out.jsonl"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["what"] for row in rows] == ["write text", "read text", "write binary", "read binary", "20 analogies"]
    assert all(row["chainrule"] > 0 and row["gensim"] > 0 for row in rows)
