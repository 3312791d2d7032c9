"""What an engine stack costs, beside what the torch stack of the same sentence costs."""

from dataclasses import replace

import numpy as np
import pytest

from chainrule.models.cost.engine import counted, decoding_memory, estimate
from chainrule.models.engine_counterpart import in_neural
from chainrule.models.engine_stack import EngineShape, EngineStack

pytest.importorskip("torch")
from chainrule.models.cost import counting, memory  # noqa: E402
from chainrule.models.stack import Shape  # noqa: E402

SHAPES = {"transformer": EngineShape("(sf)*3", width=16, context=8, heads=2),
          "gpt": EngineShape("(sf)*2", width=16, context=8, heads=2, norm="layer", position="learned",
                             feedforward="gelu", head="untied"),
          "gru": EngineShape("rr", width=16, context=8, recurrence="gru", position="none", wiring="plain", norm="none"),
          "window": EngineShape("wff", width=16, context=8, window=3, position="none")}


@pytest.mark.parametrize("name", SHAPES)
def test_parts_are_counted_as_those_of_torch(name):
    stack = EngineStack(SHAPES[name], 50, np.random.default_rng(0))
    mine = counted(stack)
    peer = counting.counted(Shape(**in_neural(SHAPES[name])), 50)
    assert sum(part.parameters for part in mine) == sum(each.value.size for each in stack.parameters())
    assert sum(part.parameters for part in mine) == sum(part.parameters for part in peer)
    assert sum(part.training for part in mine) == stack.flops_per_token(8)
    expected = sum(part.training for part in peer)  # torch has no way back to the state before the text
    assert sum(part.training for part in mine) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["transformer", "gru"])
def test_decoding_keeps_as_much_as_in_torch(name):
    stack = EngineStack(SHAPES[name], 50, np.random.default_rng(0))
    assert decoding_memory(stack) == memory.decoding_memory(Shape(**in_neural(SHAPES[name])), 50)


def test_twice_the_rows_take_twice_the_activations(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("chainrule.models.cost.measuring.SECONDS", 0.01)
    four, eight = (estimate(EngineStack(replace(SHAPES["gpt"], dropout=0.1), 50, np.random.default_rng(0)), rows,
                            kept=2, average=True) for rows in (4, 8))
    assert eight["training_bytes"]["activations"] == pytest.approx(2 * four["training_bytes"]["activations"], rel=0.02)
    assert eight["training_bytes"]["optimizer"] == 2 * eight["training_bytes"]["average"] == 8 * eight["parameters"]
    assert eight["speed"]["flops"] > 0 and eight["speed"]["measured"] == "training steps of the model, 8 × 8 tokens"
