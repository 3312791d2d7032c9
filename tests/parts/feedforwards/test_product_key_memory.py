"""A product-key memory finds the best of all pairs of keys, and mixes their vectors."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.shape import Shape
from chainrule.parts.place import Place
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, N, H, K, Q = 2, 3, 5, 7, 4, 3, 6  # no two sizes alike, but k and T


def made(**options):
    torch.manual_seed(0)
    choice = {"name": "product_key_memory", "keys": N, "heads": H, "chosen": K, "query": Q, **options}
    part = build("parts/feedforwards", choice, Place(D, 2)).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return part


def token_by_token(part, x):
    """All keys² scores of each head, sorted: y = Σ_heads Σ_{ij ∈ top k} softmax(s_ij) v_ij"""
    found = torch.zeros_like(x)
    for b in range(B):
        for t in range(T):
            for h, q in enumerate((part.inward.weight @ x[b, t]).view(H, Q)):
                normed = (q - q.mean()) / ((q - q.mean()).square().mean() + 1e-5).sqrt() * part.gain[h * Q:][:Q]
                normed = normed + part.bias[h * Q:][:Q]
                scores = {N * i + j: normed[:Q // 2] @ part.keys[0, h, i] + normed[Q // 2:] @ part.keys[1, h, j]
                          for i in range(N) for j in range(N)}
                best = sorted(scores, key=lambda pair: -scores[pair])[:K]
                weights = torch.stack([scores[pair] for pair in best]).softmax(0)
                found[b, t] += sum(weight * part.values[pair] for weight, pair in zip(weights, best, strict=True))
    return found


def test_it_mixes_the_vectors_of_the_best_pairs_of_all():
    part, x = made(), torch.randn(B, T, D, dtype=torch.float64)
    torch.testing.assert_close(part.through(x), token_by_token(part, x), rtol=1e-6, atol=1e-7)  # softmax in float32


def test_gradients_are_those_of_the_loop():
    part, x, found = made(), torch.randn(B, T, D, dtype=torch.float64), []
    for through in (part.through, lambda x: token_by_token(part, x)):
        leaf = x.clone().requires_grad_()
        found.append(torch.autograd.grad((through(leaf) * torch.arange(D)).sum(), [leaf, *part.parameters()]))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_it_starts_as_it_says_and_says_what_it_looked_at():
    torch.manual_seed(0)
    part = build("parts/feedforwards", {"name": "product_key_memory", "keys": 32}, Place(64, 4))
    assert part.values.shape == (32 * 32, 64) and part.values.std().item() == pytest.approx((64 * 4) ** -0.5, rel=0.05)
    assert part.keys.abs().max().item() <= 32**-0.5
    assert part.keys.std().item() == pytest.approx((32 * 3) ** -0.5, rel=0.05)
    with watch() as seen:
        part.through(torch.randn(B, T, 64))
    torch.testing.assert_close(seen["memory"][0].sum(-1), torch.full((B, T), 4.0))


def test_vectors_are_parameters_but_cost_no_arithmetic():
    """Products are of queries and of the two short lists; vectors that are fetched are not multiplied by a matrix."""
    choice = {"name": "product_key_memory", "keys": 16, "heads": 2, "chosen": 4, "query": 6}
    found = {part.name: part for part in counted(Shape(pattern="f", width=12, parts={"f": choice}), 11, 8)}
    memory = found["product_key_memory"]
    assert memory.parameters == 12 * 12 + 2 * 12 + 2 * 2 * 16 * 3 + 16 * 16 * 12
    assert memory.forward == 2 * 12 * 12 + 2 * 2 * 2 * 16 * 3


@pytest.mark.parametrize(("options", "words"), [
    ({"keys": 0}, "ProductKeyMemory.keys = 0, expected at least 1"),
    ({"query": 5}, "ProductKeyMemory.query = 5, expected an even number. Each list of keys sees half of it"),
    ({"chosen": 8}, "ProductKeyMemory.chosen = 8, expected 1 to keys = 7")])
def test_impossible_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)
