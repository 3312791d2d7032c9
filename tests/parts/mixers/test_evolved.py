"""The parts of the Evolved Transformer's cells, one position at a time from their definition."""

import pytest
import torch

from chainrule.models.conditional import Conditional
from chainrule.models.given import Given
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.mixers._separable import SeparableConvolution
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build

B, T, D, V = 2, 13, 6, 11
GLU = {"name": "gated_convolution", "kernel": 1}
BOTH = {"name": "side_by_side", "one": {"name": "attention", "heads": 8},
        "other": {"name": "cross_attention", "heads": 4}}
EVOLVED = Shape("abscf", 16, 20, parts={"a": BOTH, "b": "evolved_decoder_branches", "c": "cross_attention", "f": {
    "name": "mlp", "activation": "silu"}}, source=Shape("gbsf", 24, 20, causal=False, parts={
        "g": GLU, "b": "evolved_encoder_branches", "f": {"name": "mlp", "activation": "relu"}}))


def window(x, t, kernel, causal):
    """The inputs that position t sees, oldest first; zeros where there is no text."""
    first = t - (kernel - 1 if causal else (kernel - 1) // 2)
    return [x[:, n] if 0 <= n < x.shape[1] else torch.zeros_like(x[:, 0]) for n in range(first, first + kernel)]


def separable(part, x, causal):
    kernel = part.along.shape[2]
    sums = [sum(part.along[:, 0, n] * each for n, each in enumerate(window(x, t, kernel, causal)))
            for t in range(x.shape[1])]
    return torch.stack([part.across(each) for each in sums], dim=1)


def made(name, causal):
    torch.manual_seed(0)
    x = torch.randn(B, T, D, dtype=torch.float64)
    return build("parts/mixers", name, Place(D, causal=causal)).double(), x, Reading(causal).from_start(T, x.device)


@pytest.mark.parametrize("causal", [True, False])
def test_a_separable_convolution_agrees_with_the_definition(causal):
    torch.manual_seed(0)
    part, x = SeparableConvolution(D, 5, 7).double(), torch.randn(B, T, D, dtype=torch.float64)
    y, _ = part(x, None, Reading(causal).from_start(T, x.device))
    torch.testing.assert_close(y, separable(part, x, causal))


@pytest.mark.parametrize("causal", [True, False])
def test_the_branches_of_the_encoder_agree_with_the_definition(causal):
    part, x, reading = made("evolved_encoder_branches", causal)
    narrow = torch.stack([part.narrow(torch.cat(window(x, t, 3, causal), -1)) for t in range(T)], dim=1).relu()
    hidden = part.wide(x).relu()
    hidden[..., :D // 2] += narrow
    y = part(x, None, reading)[0]
    torch.testing.assert_close(y[..., :D // 2], separable(part.last, part.norm(hidden), causal))
    assert not y[..., D // 2:].any() and part.wide.out_features == 4 * D


@pytest.mark.parametrize("causal", [True, False])
def test_the_branches_of_the_decoder_agree_with_the_definition(causal):
    part, x, reading = made("evolved_decoder_branches", causal)
    hidden = separable(part.left, x, causal).relu()
    hidden[..., :D // 2] += separable(part.right, x, causal)
    torch.testing.assert_close(part(x, None, reading)[0], separable(part.last, part.norm(hidden), causal))
    assert hidden.shape[-1] == 2 * D


def test_side_by_side_is_the_sum_of_both():
    part, x, reading = made({"name": "side_by_side", "one": "gru", "other": "window"}, True)
    one, other = (each(x, None, reading)[0] for each in (part.one, part.other))
    torch.testing.assert_close(part(x, None, reading)[0], one + other)
    assert part.recurrent and not part.bounded and part.reads == "either"


def test_an_evolved_encoder_and_decoder_write_token_by_token_what_they_score_at_once():
    torch.manual_seed(0)
    network = Stack(EVOLVED, V).double().eval()
    given, ids = Given(torch.randint(V, (3, 7)), torch.tensor([7, 2, 4])), torch.randint(1, V, (3, 15))
    model = Conditional(network, 0, given)
    whole, state = model.score(ids), model.start(3)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], whole[:, t])
        state = model.advance(state, column)


def test_heads_are_found_inside_other_parts():
    shape = Shape("af", 16, 20, parts={"a": {"name": "side_by_side", "one": {"name": "attention", "heads": 2}}},
                  position="relative_bias")
    assert shape.heads == 2
    assert Stack(shape, V)(torch.zeros(1, 4, dtype=torch.long))[0].shape == (1, 4, 16)
