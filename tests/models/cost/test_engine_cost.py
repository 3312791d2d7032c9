"""What an engine stack costs, beside what the torch stack of the same sentence costs."""

from dataclasses import replace

import numpy as np
import pytest

from chainrule.models.cost.engine import counted, decoding_memory, estimate
from chainrule.models.engine_stack import EngineStack
from chainrule.models.shape import Shape

pytest.importorskip("torch")
from chainrule.models.cost import counting, memory  # noqa: E402

TWO = {"name": "attention", "heads": 2}
SHAPES = {"transformer": Shape("(sf)*3", 16, 8, parts={"s": TWO}),
          "gpt": Shape("(sf)*2", 16, 8, parts={"s": TWO, "f": "mlp"}, norm="layer", position="learned", head="untied"),
          "gru": Shape("rr", 16, 8, parts={"r": "gru"}, position="none", wiring="plain", norm="none"),
          "window": Shape("wff", 16, 8, parts={"w": {"name": "window", "size": 3}}, position="none"),
          "shared": Shape("[sf]*3 s", 16, 8, parts={"s": TWO})}


@pytest.mark.parametrize("name", SHAPES)
def test_parts_are_counted_as_those_of_torch(name):
    stack = EngineStack(SHAPES[name], 50, np.random.default_rng(0))
    mine = counted(stack)
    peer = counting.counted(SHAPES[name], 50)
    assert sum(part.parameters for part in mine) == sum(each.value.size for each in stack.parameters())
    assert sum(part.parameters for part in mine) == sum(part.parameters for part in peer)
    assert sum(part.training for part in mine) == stack.flops_per_token(8)
    expected = sum(part.training for part in peer)  # torch has no way back to the state before the text
    assert sum(part.training for part in mine) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["transformer", "gru", "shared"])
def test_decoding_keeps_as_much_as_in_torch(name):
    stack = EngineStack(SHAPES[name], 50, np.random.default_rng(0))
    assert decoding_memory(stack) == memory.decoding_memory(SHAPES[name], 50)


def test_twice_the_rows_take_twice_the_activations(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("chainrule.models.cost.measuring.SECONDS", 0.01)
    shape = replace(SHAPES["gpt"], dropout={"name": "independent", "rate": 0.1})
    four, eight = (estimate(EngineStack(shape, 50, np.random.default_rng(0)), rows, kept=2, average=True)
                   for rows in (4, 8))
    assert eight["training_bytes"]["activations"] == pytest.approx(2 * four["training_bytes"]["activations"], rel=0.02)
    assert eight["training_bytes"]["optimizer"] == 2 * eight["training_bytes"]["average"] == 8 * eight["parameters"]
    assert eight["speed"]["flops"] > 0 and eight["speed"]["measured"] == "training steps of the model, 8 × 8 tokens"
