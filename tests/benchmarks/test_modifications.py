"""The benchmark of modifications: rows change what they say, trainings go on where they stopped, ranks are ranks."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import modifications
import modifications_rows
import side_by_side


@pytest.fixture
def held():
    ids = np.random.default_rng(0).integers(2, 60, 2000).astype(np.uint16)
    return {"train": ids, "valid": ids[:300], "size": np.array(60), "start": np.array(0), "end": np.array(1)}


def small(name, task):
    model = next(row for row in modifications_rows.ROWS if row.name == name).model(task)
    return side_by_side.tiny(side_by_side.Training(name, task, model, 100))


@pytest.mark.parametrize("task", modifications.TASKS)
def test_a_training_gives_what_the_table_needs(held, task):
    found = side_by_side.trained(small("GeGLU", task), held)
    assert {"parameters", "flops_per_step", "early", "final", "steps_per_second", "tokens"} <= found.keys()
    assert found["steps"] == 4 and math.isfinite(found["final"]) and found["final"] < found["early"]
    assert found["flops_per_step"] > 6 * found["parameters"]


def test_a_training_ends_when_time_is_up(held):
    assert side_by_side.trained(small("vanilla", "language"), held, until=0.0) == {"ended": 0}


def test_the_source_of_an_encoder_decoder_is_like_its_target():
    changed = modifications_rows.Row("more", 0, 0, {"norm": {"name": "rms"}}, {"pattern": "[sf]*4"})
    shape = side_by_side.shape(changed.model("span_corruption"))
    assert shape.source.norm == shape.norm == {"name": "rms"}
    assert (shape.source.pattern, shape.pattern) == ("[sf]*4", "(sxf)*4")
    assert (shape.source.causal, shape.causal) == (False, True)
    assert "x" not in shape.source.parts and shape.source.parts["f"]["activation"] == "relu"


def test_a_change_inside_a_part_keeps_its_other_options():
    base = {"s": {"name": "attention", "heads": 6}, "width": 8}
    assert side_by_side.merged(base, {"s": {"attend": "dot"}})["s"] == {**base["s"], "attend": "dot"}
    assert side_by_side.merged(base, {"s": {"name": "gru"}})["s"] == {"name": "gru"}


def test_known_results_stay_and_what_fails_is_reported(tmp_path):
    data, out = modifications.made_up(tmp_path / "data.npz"), tmp_path / "results.jsonl"
    right = small("vanilla", "language")
    wrong = replace(right, name="wrong", model={**right.model, "s": {"name": "attention", "heads": 7}})
    out.write_text(json.dumps({"name": "vanilla", "task": "language", "seed": 0, "asked": 4, "final": 1.0}) + "\n")
    wanted = [right, wrong, small("GeLU", "language")]
    known, failed, new = side_by_side.run(wanted, data, out, workers=1, seconds=100)
    assert known["final"] == 1.0 and new["name"] == "GeLU" and new["final"] > 0
    assert failed["failed"] == "OptionError: Attention.heads = 7, expected a divisor of width 120."


def test_ranks_with_ties_correlate_as_in_scipy():
    stats = pytest.importorskip("scipy.stats")
    ours, theirs = (1.0, 3.0, 2.0, 2.0, 5.0), (1.5, 2.5, 2.5, 2.0, 9.0)
    assert modifications.spearman(ours, theirs) == pytest.approx(stats.spearmanr(ours, theirs).statistic)


def test_the_report_has_every_row_and_the_catalogue_takes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(modifications, "KEPT", tmp_path / "kept.json")
    lines = [{"name": row.name, "task": "language", "seed": seed, "asked": 8, "steps": 8, "tokens": 80, "early": 3.0,
              "final": row.final + 1 + seed / 100, "parameters": 2e7, "flops_per_step": 1e12, "steps_per_second": 3.0}
             for row in modifications_rows.ROWS[:5] for seed in range(2)]
    modifications.report([*lines, {"name": "GLU", "task": "language", "seed": 2, "asked": 8, "failed": "why"}])
    kept = json.loads((tmp_path / "kept.json").read_text())
    assert kept["tables"][0]["rows"][0][0] == "GLU" and len(kept["tables"][0]["rows"]) == 5
    assert "published final losses 1.00" in kept["text"][0] and "failed: why" in kept["text"][0]
    assert "2.843 ± 0.007" in capsys.readouterr().out
