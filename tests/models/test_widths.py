"""Sublayers of different widths in one stack, as AWD-LSTM has them."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted, parameters
from chainrule.models.cost.memory import activations, decoding_memory, kept_bytes
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack

torch.set_num_threads(1)
V, D, H = 23, 6, 10


def shaped(pattern="uvr", **changes):
    wide = {"name": "lstm", "hidden": H, "weight_drop": 0.5}
    return Shape(pattern=pattern, width=D, context=8, parts={"u": wide, "v": wide, "r": {"name": "lstm", "hidden": D}},
                 **{"wiring": "plain", "norm": "none", "position": "none"} | changes)


def test_each_sublayer_reads_what_the_one_before_it_gives():
    stack = Stack(shaped(), V)
    sizes = [layer.body.cell.fused.weight_ih_l0.shape for layer in stack.sublayers]
    assert sizes == [(4 * H, D), (4 * H, H), (4 * D, H)]
    hidden, state = stack(torch.randint(V, (2, 5)), stack.start(2, 1))
    assert hidden.shape == (2, 5, D) and [each.h.shape[1] for each in state.sublayers] == [H, H, D]


def test_it_is_torchs_own_layers_one_after_the_other():
    stack, ids = Stack(shaped(), V).double().eval(), torch.randint(V, (2, 5))
    x = stack.embedding(ids)
    for layer in stack.sublayers:
        x = layer.body.cell.fused(x)[0]
    torch.testing.assert_close(stack(ids)[0], x)


def test_a_text_is_scored_as_it_is_read_token_by_token():
    model, ids = NeuralLanguageModel(Stack(shaped(), V).double().eval(), 0), torch.randint(1, V, (2, 19))
    scores, state = model.score(ids), model.start(2)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)


@pytest.mark.parametrize("pattern", ["uvr", "urur", "(uvr)*3"])
def test_its_cost_counts_each_width(pattern):
    shape = shaped(pattern)
    stack = Stack(shape, V)
    assert parameters(shape, V) == sum(each.numel() for each in stack.parameters())
    maps = sum(each.numel() for name, each in stack.named_parameters() if "weight_" in name)
    assert sum(part.forward for part in counted(shape, V) if part.kind == "mixer") == 2 * maps
    assert activations(shape, V, (2, 8)) == kept_bytes(stack.to("meta"), torch.zeros(2, 8, dtype=torch.long,
                                                                                   device="meta"))
    state = [leaf.numel() for each in stack.sublayers for leaf in vars(each.body.start(1, 1, torch.zeros(1))).values()]
    assert decoding_memory(shape, V).fixed == 4 * sum(state)


@pytest.mark.parametrize(("changes", "words"), [
    ({"wiring": "pre_norm"}, "model.wiring = 'pre_norm', expected plain or another that adds nothing to the stream. "
                             "The sublayer 'u' reads 6 numbers and gives 10"),
    ({"pattern": "uv"}, "model.pattern = 'uv', expected a last sublayer that is model.width = 6 wide; this one is 10"),
    ({"pattern": "uur"}, "model.pattern = 'uur', expected another letter for a sublayer that reads 10 numbers than for "
                         "one that reads 6; here both are 'u'. model.parts gives"),
    ({"pattern": "[u]*2r"}, "expected another letter for a sublayer that reads 10 numbers than")])
def test_widths_that_cannot_be_are_named(changes, words):
    with pytest.raises(OptionError, match=words.replace("[", r"\[").replace("*", r"\*")):
        Stack(shaped(**changes), V)
