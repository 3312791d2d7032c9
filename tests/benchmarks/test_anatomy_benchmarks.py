"""The benchmarks that take a Transformer apart run small on a CPU; how fast a test machine is proves nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(FOLDER))

import attention_length  # noqa: E402


def printed(name, *words):
    done = subprocess.run([sys.executable, FOLDER / name, *map(str, words)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cost_against_length_is_a_table_and_two_figures(tmp_path):
    table = printed("attention_length.py", "--device", "cpu", "--longest", 512, "--out", tmp_path, "--only", "full",
                    "sliding_window", "min_gru", "--each", 20)
    assert "| `full` | " in table and "| `min_gru` | " in table
    kept = json.loads((tmp_path / "attention-length-cpu.json").read_text())["parts"]
    assert [point["length"] for point in kept["full"]["points"]] == [256, 512]
    assert kept["full"]["points"][1]["bytes"] > kept["full"]["points"][0]["bytes"] > 0
    assert (tmp_path / "attention-length-cpu-memory.svg").read_text().startswith("<svg")


def test_an_exponent_and_a_crossing_are_what_they_say():
    full, linear = ([{"length": n, "seconds": a * n**b} for n in (256, 512, 1024, 2048)] for a, b in ((1, 2), (600, 1)))
    assert attention_length.exponent(full) == pytest.approx(2.0) and attention_length.exponent(full[:2]) is None
    assert attention_length.crosses(linear, full) == "1,024" and attention_length.crosses(full, linear) == "–"
    assert attention_length.expected(full, "seconds", 4096) == pytest.approx(4096**2)


def test_every_attention_and_mixer_is_listed_once():
    listed = [name for name, _ in attention_length.parts()]
    assert listed[0] == "full" and len(set(listed)) == len(listed) and {"lstm", "sliding_window"} < set(listed)
    assert not {"attention", "cross_attention"} & set(listed)


def test_a_part_that_takes_too_long_is_left_out_with_a_note():
    known = [{"length": 256, "seconds": 3.0, "bytes": 10}]
    given = {"device": None, "known": known, "until": float("inf"), "each": 1.0, "limit": 1e9}
    assert attention_length.measured("full", {}, 512, **given) == {"full": "about 12.0 s at 512"}
    given |= {"known": [{"length": 256, "seconds": 0.1, "bytes": 1e9}]}
    assert attention_length.measured("full", {}, 512, **given) == {"full": "about 4 GB at 512"}


def test_depth_writes_losses_and_gradients_by_layer(tmp_path):
    table = printed("depth.py", "--tiny", "--out", tmp_path, "--wirings", "deep_norm")
    assert "| `deep_norm` | 4 |" in table
    kept = json.loads((tmp_path / "depth.json").read_text())["deep_norm"]
    assert len(kept["losses"]) == 4 and len(kept["first"]) == len(kept["last"]) == 12 and min(kept["first"]) > 0
    assert {each.name for each in tmp_path.glob("*.svg")} == {"depth-loss.svg", "depth-gradient.svg"}
