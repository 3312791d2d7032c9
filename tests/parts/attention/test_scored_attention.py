"""Attention with other scores agrees with its equation, one query and key at a time."""

import pytest
import torch

from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build

B, H, Q, K, E = 2, 3, 4, 7, 5
SCORES = {
    "dot": lambda part, h, q, k: q @ k,
    "general": lambda part, h, q, k: q @ part.weight[h] @ k,
    "additive": lambda part, h, q, k: part.vector[h] @ torch.tanh(q @ part.of_query[h] + k @ part.of_key[h]),
    "mlp_score": lambda part, h, q, k: part.vector[h] @ torch.relu(torch.relu(
        q @ part.of_query[h] + k @ part.of_key[h] + (q * k) @ part.of_product[h]) @ part.inner[h]),
}


def by_the_definition(name, part, q, k, v, seen):
    y = torch.zeros_like(q)
    for b in range(B):
        for h in range(H):
            for i in range(Q):
                scores = torch.stack([SCORES[name](part, h, q[b, h, i], k[b, h, j]) for j in range(seen[b])])
                y[b, h, i] = scores.softmax(0) @ v[b, h, :seen[b]]
    return y


@pytest.mark.parametrize("name", SCORES)
def test_agrees_with_the_definition_also_over_padding(name):
    torch.manual_seed(0)
    part = build("parts/attention", name, Place(H * E, heads=H, causal=False)).double().eval()
    q, k, v = (torch.randn(B, H, time, E, dtype=torch.float64) for time in (Q, K, K))
    lengths, places = torch.tensor([7, 4]), torch.arange(K)[None]
    found = part(q, k, v, places[:, :Q], places, Reading(False, lengths=lengths))
    torch.testing.assert_close(found, by_the_definition(name, part, q, k, v, lengths.tolist()))
