"""The benchmarks that take a Transformer apart run small on a CPU; how fast a test machine is proves nothing."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(FOLDER))

import attention_length  # noqa: E402
import orders  # noqa: E402
import positions  # noqa: E402
import side_by_side  # noqa: E402


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


def test_orders_have_the_same_sublayers_and_the_interleaved_one_is_measured_again():
    wanted = orders.trainings(count=5, steps=10, seeds=3)
    assert [each.seed for each in wanted if each.name == "interleaved"] == [0, 1, 2]
    letters = {"".join(sorted(side_by_side.shape(each.model).letters)) for each in wanted}
    assert letters == {"f" * 8 + "s" * 8} and sum(each.name.startswith("random ") for each in wanted) == 5


def test_the_table_of_orders_says_how_many_beat_the_interleaved(tmp_path, capsys):
    named = {"interleaved": 3.0, "random sf": 2.9, "random fs": 3.2, "random ssff": 2.8}
    orders.show([{"name": name, "final": value} for name, value in named.items()], tmp_path)
    said = capsys.readouterr().out
    assert "mean 2.9667, standard deviation 0.2082" in said
    assert "2 are better than the interleaved order (3.0000" in said
    assert "random ssff" in (tmp_path / "orders.svg").read_text()


def test_positions_are_fine_tuned_and_read_further_than_in_training(tmp_path):
    held = dict(np.load(positions.made_up(tmp_path / "tiny.npz")))
    wanted = [side_by_side.tiny(each) for each in positions.trainings(10, 1)]
    masked = next(each for each in wanted if each.name == "learned × none")
    assert {"sst_dev", "sst_test"} <= side_by_side.trained(masked, held).keys()
    causal = next(each for each in wanted if each.name == "absolute learned")
    found = side_by_side.trained(causal, held)
    assert len(found["by_stretch"]) == 4 and all(0 < loss < 20 for loss in found["by_stretch"])
