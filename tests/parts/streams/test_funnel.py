"""Funnel pooling and its way back, against their definitions, and what they save."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.cost.memory import activations
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build

B, T, D, V = 2, 11, 16, 13
PARTS = {"p": "pool", "u": "upsample"}


def funnel(pattern="sf p sf p sf u sf", **more):
    torch.manual_seed(0)
    letters = {letter: part for letter, part in PARTS.items() if letter in pattern}
    return Shape(pattern, D, 24, parts=letters, **{"causal": False, **more})


@pytest.mark.parametrize("size", [2, 3])
def test_pooling_is_the_mean_of_neighbors_that_are_there(size):
    x, lengths = torch.randn(B, T, D), [T, 4]
    reading = Reading(False, lengths=torch.tensor(lengths)).from_start(T, x.device)
    y, _, after = build("parts/streams", {"name": "pool", "size": size}, Place(D))(x, None, reading)
    for b, length in enumerate(lengths):
        windows = [x[b, at:min(at + size, length)].mean(0) for at in range(0, length, size)]
        torch.testing.assert_close(y[b, :len(windows)], torch.stack(windows))
        assert after.lengths[b] == len(windows)
    assert after.positions.tolist() == [list(range(y.shape[1]))] and after.span == y.shape[1]


def test_what_was_pooled_twice_is_repeated_and_added_to_what_was_before():
    x, reading = torch.randn(B, T, D), Reading(False).from_start(T, torch.device("cpu"))
    pool, up = build("parts/streams", "pool", Place(D)), build("parts/streams", "upsample", Place(D))
    once, _, shorter = pool(x, None, reading)
    twice, _, shortest = pool(once, None, shorter)
    y, _, back = up(twice, None, shortest)
    torch.testing.assert_close(y, torch.stack([twice[:, i // 4] for i in range(T)], dim=1) + x)
    assert back is reading


@pytest.mark.parametrize("position", ["rotary", "relative_bias", "alibi", "sinusoidal"])
def test_a_row_does_not_depend_on_padding_nor_on_other_rows(position):
    stack, ids = Stack(funnel(position=position), V).double().eval(), torch.randint(V, (B, T))
    together = stack(ids, None, Reading(False, lengths=torch.tensor([T, 6])))[0]
    torch.testing.assert_close(stack(ids[1:, :6])[0], together[1:, :6])
    torch.testing.assert_close(stack(ids[:1])[0], together[:1])


def test_pooled_vectors_are_classified_and_looked_at():
    classes = Stack(funnel("sf p sf", pooling="mean", head="untied"), V).eval()
    ids, lengths = torch.randint(V, (B, T)), torch.tensor([T, 5])
    assert classes(ids)[0].shape == (B, 6, D) and classes.lengths(lengths).tolist() == [6, 3]
    torch.testing.assert_close(classes.summary(ids, lengths)[1:], classes.summary(ids[1:, :5]))
    pair = Stack(funnel("sxf", causal=True, source=funnel("sf p sf")), V).eval()
    assert pair.looking_at(pair.example(B, T, "cpu")[1]).source.shape == (B, 6, D)


def test_what_is_pooled_costs_less():
    """Two of four layers see half of the positions: their products are halved, attention over the context quartered."""
    plain, pooled = ({part.name: part for part in counted(Shape(pattern, D, 24, parts=parts, causal=False,
                                                                position="none"), V)}
                     for pattern, parts in (("(sf)*4", {}), ("sf p (sf)*2 u sf", PARTS)))
    assert pooled["swiglu"].forward == 0.75 * plain["swiglu"].forward
    products, looked = 4 * 2 * D * D, 4 * D * 24  # of a layer for each position
    assert plain["attention"].forward == 4 * (products + looked)
    assert pooled["attention"].forward == 2 * (products + looked) + 2 * (products / 2 + looked / 4)
    assert pooled["attention"].times == 4 and pooled["swiglu"].parameters == plain["swiglu"].parameters
    assert activations(funnel("sf p (sf)*2 u sf"), V, (3, 24)) < activations(funnel("(sf)*4"), V, (3, 24))


def test_a_pooled_source_makes_cross_attention_cheaper():
    costs = [next(part.forward for part in counted(funnel("sxf", causal=True, source=funnel(pattern)), V)
                  if part.name == "cross_attention") for pattern in ("sfsf", "sf p sf", "sf p sf u sf")]
    assert costs[1] < costs[0] == costs[2]


@pytest.mark.parametrize(("shape", "words"), [
    (funnel("sf p sf"), "expected a letter with `upsample` behind those with `pool`. The head needs a vector for each"),
    (funnel(causal=True), "expected parts that read from left to right. The part Pool does not."),
    (funnel("sf u"), "expected a letter with `pool` before it"),
    (funnel("sxf", causal=True, head="copying", source=funnel("sf p sf")), "expected a letter with `upsample`")])
def test_where_pooling_makes_no_sense_it_is_refused(shape, words):
    with pytest.raises(OptionError, match=words):
        Stack(shape, V)(torch.zeros(1, 4, dtype=torch.long))


def test_a_size_of_one_is_refused():
    with pytest.raises(OptionError, match="Pool.size = 1, expected at least 2"):
        build("parts/streams", {"name": "pool", "size": 1}, Place(D))
