"""The branches of the Weighted Transformer, head by head from the definition."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build

B, T, D, H, V = 2, 5, 12, 3, 11
NAMED = {"name": "weighted_branches", "attention": {"name": "attention", "heads": H}, "hidden": 21}


def made(choice, **place):
    torch.manual_seed(0)
    part = build("parts/mixers", choice, Place(D, **place)).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return part


def test_each_head_passes_its_own_feedforward():
    part, x = made(NAMED), torch.randn(B, T, D, dtype=torch.float64)
    reading = Reading(position=build("parts/positions", "rotary", Place(D, heads=H))).from_start(T, x.device)
    heads = part.attention(x, None, reading)[0]
    kappa, alpha = part.kappa.exp() / part.kappa.exp().sum(), part.alpha.exp() / part.alpha.exp().sum()
    y = torch.zeros_like(x)
    for i in range(H):
        u = kappa[i] * heads[..., i * D // H:(i + 1) * D // H] @ part.apart[i]
        y += alpha[i] * ((u @ part.inward[i] + part.inward_bias[i]).relu() @ part.outward[i] + part.outward_bias[i])
    torch.testing.assert_close(part(x, None, reading)[0], y)


def test_weights_of_branches_start_equal_and_sum_to_one():
    part = build("parts/mixers", NAMED, Place(D))
    assert part.kappa.softmax(0).tolist() == part.alpha.softmax(0).tolist() == pytest.approx([1 / 3] * 3)


def test_it_has_as_many_weights_as_attention_and_a_feedforward_but_for_what_is_apart_for_each_head():
    count = {name: sum(each.numel() for each in build(kind, choice, Place(D)).parameters() if each.dim() > 1)
             for name, kind, choice in (("s", "parts/mixers", {"name": "attention", "heads": H}),
                                        ("b", "parts/mixers", {**NAMED, "hidden": 24}),
                                        ("f", "parts/feedforwards", {"name": "mlp", "hidden": 24}))}
    biases = H * (24 // H) + H * D  # of the feedforwards: here they are matrices, too
    assert count["b"] == count["s"] + count["f"] + biases


@torch.inference_mode()
def test_a_language_model_of_branches_writes_what_it_scores():
    torch.manual_seed(0)
    stack = Stack(Shape("b*2", 12, 8, parts={"b": NAMED}, wiring="deep_norm", position="relative_bias"), V).double()
    model, ids = NeuralLanguageModel(stack.eval(), 0), torch.randint(1, V, (B, 11))
    whole, state = model.score(ids), model.start(B)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], whole[:, t])
        state = model.advance(state, column)
    assert model.to_write() is model


def test_a_decoder_of_branches_looks_at_a_source():
    parts = {"b": {"name": "weighted_branches", "attention": "cross_attention"}}
    stack = Stack(Shape("(sb)*2", 16, 8, parts=parts, source=Shape("sf", 24, 8, causal=False)), V)
    inputs, given = stack.example(B, T, "cpu")
    assert stack(inputs, given=given)[0].shape == (B, T, 16)


@pytest.mark.parametrize(("change", "words"), [
    ({"attention": "gru"}, "WeightedBranches.attention = 'gru', expected attention or cross_attention"),
    ({"hidden": 22}, "WeightedBranches.hidden = 22, expected a multiple of heads 3")])
def test_what_has_no_heads_is_refused(change, words):
    with pytest.raises(OptionError, match=words):
        build("parts/mixers", {**NAMED, **change}, Place(D))
