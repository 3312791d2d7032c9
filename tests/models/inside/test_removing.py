"""Sublayers and heads are removed for the length of a block, exactly, and come back."""

import torch

from chainrule.models.inside.removing import heads_of, removable, without_head, without_sublayer
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack


def stack(pattern="sf", **changes):
    torch.manual_seed(0)
    parts = {"s": {"name": "attention", "heads": 3}, "f": "mlp", "p": "pool", "u": "upsample"}
    return Stack(Shape(**{"pattern": pattern, "width": 12, "context": 8, "parts": parts} | changes), 20).eval()


@torch.no_grad()
def test_a_removed_sublayer_adds_nothing_to_the_stream():
    whole, ids = stack("sf"), torch.randint(0, 20, (2, 7))
    before = whole(ids)[0]
    alone = stack("sf")
    alone.sublayers = torch.nn.ModuleList([alone.sublayers[0]])
    alone.letters = "s"
    with without_sublayer(whole, 1):
        torch.testing.assert_close(whole(ids)[0], alone(ids)[0])
    torch.testing.assert_close(whole(ids)[0], before)


@torch.no_grad()
def test_a_removed_head_is_what_attention_without_its_values_gives():
    model, ids = stack("s"), torch.randint(0, 20, (2, 7))
    before = model(ids)[0]
    with without_head(model, 0, 1):
        without = model(ids)[0]
    body = model.sublayers[0].body
    first = 2 * 12 + 1 * 4  # the values stand behind queries and keys, 4 numbers a head
    body.inward.weight[first:first + 4] = 0
    torch.testing.assert_close(without, model(ids)[0])
    assert not torch.allclose(without, before)


@torch.no_grad()
def test_all_heads_together_are_the_sublayer():
    model, ids = stack("s"), torch.randint(0, 20, (2, 7))
    with without_head(model, 0, 0), without_head(model, 0, 1), without_head(model, 0, 2):
        heads = model(ids)[0]
    with without_sublayer(model, 0):
        torch.testing.assert_close(heads, model(ids)[0])


def test_weights_come_back_when_the_block_fails():
    model = stack("s")
    before = model.sublayers[0].body.outward.weight.clone()
    try:
        with without_head(model, 0, 2):
            raise ValueError
    except ValueError:
        assert torch.equal(model.sublayers[0].body.outward.weight, before)


def test_what_has_heads_and_what_can_be_removed():
    model = stack("sfpsu", causal=False)
    assert [heads_of(model, n) for n in range(5)] == [3, 0, 0, 3, 0] and removable(model) == [0, 1, 3]
