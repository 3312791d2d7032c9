"""The benchmark of word vectors runs, and says what it measured; how fast a test machine is proves nothing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("model, peer", [("skipgram", "gensim"), ("fasttext", "fasttext")])
def test_word_vectors_are_compared_with_a_peer(model, peer, tmp_path):
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"the peer {peer} is not installed")
    done = subprocess.run([sys.executable, FOLDER / "vectors.py", "--data", "pydoc", "--words", "20000", "--epochs",
                           "1", "--seeds", "1", "--threads", "1", "--models", model, "--out", tmp_path / "out.jsonl"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    ours, theirs = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert ours["words"] == theirs["words"] > 10_000
    assert ours["words_per_s"] > 0 and theirs["words_per_cpu_s"] > 0 and theirs["peak_mb"] > 0
    assert "words/CPU s" in done.stdout
