"""Transparent attention looks at a learned mixture of all layers of the source."""

from dataclasses import replace

import pytest
import torch

from chainrule.errors import OptionError, UsageError
from chainrule.models.conditional import Conditional
from chainrule.models.cost.counting import counted
from chainrule.models.cost.memory import training_memory
from chainrule.models.given import Given
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, S, D, V = 2, 3, 5, 12, 17
SOURCE = Shape(pattern="(sf)*3", width=D, context=9, causal=False)
SHAPE = Shape(pattern="(sxf)*2", width=D, context=8, parts={"x": "transparent_attention"}, source=SOURCE)
IDS, READ, LENGTHS = torch.arange(B * T).view(B, T) + 1, torch.arange(B * S).view(B, S) + 2, torch.tensor([5, 3])


def made(shape=SHAPE):
    torch.manual_seed(0)
    stack = Stack(shape, V).double().eval()
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return stack


@pytest.mark.parametrize(("every", "depth", "layers"), [(2, 6, [0, 2, 4, 6]), (2, 5, [0, 2, 4, 5]), (1, 2, [0, 1, 2]),
                                                        (4, 3, [0, 3]), (2, 0, [0])])
def test_a_layer_is_so_many_sublayers_and_the_last_is_among_them(every, depth, layers):
    part = build("parts/mixers", {"name": "transparent_attention", "every": every}, Place(D, source_depth=depth))
    assert part.layers == layers and torch.equal(part.mix, torch.zeros(len(layers)))


@torch.no_grad()
def test_it_is_cross_attention_to_the_mixture():
    stack = made()
    part = stack.sublayers[1].body
    layers = tuple(torch.randn(7, B, S, D, dtype=torch.float64))
    plain = build("parts/mixers", "cross_attention", Place(D)).double()
    plain.load_state_dict({name: each for name, each in part.state_dict().items() if name != "mix"})
    weights = part.mix.exp() / part.mix.exp().sum()
    mixed = sum(weights[n] * layers[2 * n] for n in range(4))
    x, reading = torch.randn(B, T, D, dtype=torch.float64), Reading(source_lengths=LENGTHS).from_start(T, "cpu")
    y, _ = part(x, None, replace(reading, source=layers[-1], source_layers=layers))
    torch.testing.assert_close(y, plain(x, None, replace(reading, source=mixed))[0])


@torch.no_grad()
def test_the_source_shows_what_its_sublayers_have_made_of_it():
    stack = made()
    with watch() as seen:
        reading = stack.looking_at(Given(READ, LENGTHS))
    wanted = [seen["source/embedded"][0], *(seen[f"source/sublayers.{n}/output"][0] for n in range(6))]
    assert len(reading.source_layers) == 7
    for shown, each in zip(reading.source_layers, wanted, strict=True):
        torch.testing.assert_close(shown, stack.source.norm(each))
    torch.testing.assert_close(reading.source_layers[-1], reading.source)
    assert made(replace(SHAPE, parts={})).looking_at(Given(READ, LENGTHS)).source_layers is None


def test_every_layer_of_the_source_is_learned_through_the_mixture():
    stack = made()
    hidden, _ = stack(IDS, given=Given(READ, LENGTHS))
    (hidden * torch.arange(D)).sum().backward()
    first, second = (stack.sublayers[n].body.mix for n in (1, 4))
    assert first is not second and bool(first.grad.all()) and bool(second.grad.all())


@torch.no_grad()
def test_token_by_token_gives_what_a_whole_target_gives_and_sources_keep_to_their_rows():
    model = Conditional(made(), 0, Given(READ, LENGTHS))
    whole, state = model.score(IDS), model.start(B)
    for t in range(T):
        torch.testing.assert_close(model.log_probs(state).gather(1, IDS[:, t:t + 1])[:, 0], whole[:, t])
        state = model.advance(state, IDS[:, t])
    alone = Conditional(model.stack, 0, Given(READ[1:, :3], None))
    torch.testing.assert_close(alone.score(IDS[1:]), whole[1:])


def test_it_is_counted_as_it_is():
    parts = {part.name: part for part in counted(SHAPE, V)}
    stack = Stack(SHAPE, V)
    assert sum(part.parameters for part in parts.values()) == sum(each.numel() for each in stack.parameters())
    own = sum(each.numel() for each in stack.sublayers[1].body.parameters())
    assert own == 4 * D * D + 4 and parts["transparent_attention"].parameters == 2 * own
    memory = training_memory(SHAPE, V, (2, 8), optimizer=lambda named: torch.optim.SGD([p for _, p in named]))
    assert memory.weights == 4 * sum(each.numel() for each in stack.parameters())


def test_what_is_impossible_is_refused():
    with pytest.raises(OptionError, match="TransparentAttention.every = 0, expected at least 1"):
        build("parts/mixers", {"name": "transparent_attention", "every": 0}, Place(D))
    with pytest.raises(UsageError, match="looks at a source, and there is none"):
        build("parts/mixers", "transparent_attention", Place(D))(torch.zeros(B, T, D), None, Reading())
    layers = (torch.zeros(B, S, D), torch.zeros(B, S - 1, D))
    with pytest.raises(UsageError, match="they differ in length. Choose cross_attention"):
        build("parts/mixers", "transparent_attention", Place(D, source_depth=1))(
            torch.zeros(B, T, D), None, Reading(source=layers[1], source_layers=layers))
