"""Networks with a source: a source is read as if it were alone, and step by step equals all at once."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from chainrule.errors import OptionError, UsageError  # noqa: E402
from chainrule.generation.decoder import decode  # noqa: E402
from chainrule.generation.rows import Marks  # noqa: E402
from chainrule.models.conditional import Conditional  # noqa: E402
from chainrule.models.cost.counting import parameters  # noqa: E402
from chainrule.models.cost.memory import training_memory  # noqa: E402
from chainrule.models.given import Given  # noqa: E402
from chainrule.models.shape import Shape  # noqa: E402
from chainrule.models.sizes import Sizes  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.recipe.registry import build  # noqa: E402

V, S, WIDTH, SOURCE_WIDTH = 13, 17, 16, 24
SIZES = Sizes(V, V, source=Sizes(S, S))
SHAPES = {"transformer": Shape(pattern="(sxf)*2", width=WIDTH, context=20, source=Shape(
              pattern="(sf)*2", width=SOURCE_WIDTH, causal=False)),
          "encoder shared": Shape(pattern="(sxf)*2", width=WIDTH, context=20, source=Shape(
              pattern="[sf]*2", width=SOURCE_WIDTH, causal=False)),
          "decoder shared": Shape(pattern="[sxf]*2", width=WIDTH, context=20, source=Shape(
              pattern="(sf)*2", width=SOURCE_WIDTH, causal=False)),
          "shared with own norms": Shape(pattern="{sxf}*2", width=WIDTH, context=20, source=Shape(
              pattern="{sf}*2", width=SOURCE_WIDTH, causal=False)),
          "recurrent": Shape(pattern="rx", width=WIDTH, context=20, wiring="residual", position="none", source=Shape(
              pattern="rr", width=SOURCE_WIDTH, causal=False, position="none"))}


def made(name, sizes=SIZES):
    torch.manual_seed(0)
    return Stack(SHAPES[name], sizes).double().eval()


def sources():
    torch.manual_seed(1)
    return Given(torch.randint(S, (3, 7)), torch.tensor([7, 2, 4]))


@pytest.mark.parametrize("name", SHAPES)
def test_step_by_step_equals_all_at_once(name):
    model, ids = Conditional(made(name), 0, sources()), torch.randint(1, V, (3, 9))
    state, found = model.start(3), []
    for token in ids.T:
        found.append(model.log_probs(state).gather(1, token[:, None])[:, 0])
        state = model.advance(state, token)
    torch.testing.assert_close(torch.stack(found, 1), model.score(ids))


@pytest.mark.parametrize("name", SHAPES)
def test_a_row_does_not_depend_on_the_padding_of_its_source_nor_on_other_rows(name):
    network, given, ids = made(name), sources(), torch.randint(1, V, (3, 9))
    together = Conditional(network, 0, given).score(ids)
    for row, length in enumerate(given.lengths.tolist()):
        alone = Conditional(network, 0, Given(given.inputs[row:row + 1, :length])).score(ids[row:row + 1])
        torch.testing.assert_close(alone, together[row:row + 1])


@pytest.mark.parametrize("strategy", ["greedy", {"name": "beam", "beams": 3}])
def test_each_source_is_decoded_as_if_it_were_alone(strategy):
    network, given, marks = made("transformer"), sources(), Marks(0, 1)
    chosen = build("generation/strategies", strategy)
    together = decode(Conditional(network, 0, given), [[]] * 3, chosen, marks=marks, max_tokens=8)
    for row, length in enumerate(given.lengths.tolist()):
        model = Conditional(network, 0, Given(given.inputs[row:row + 1, :length]))
        alone, = decode(model, [[]], chosen, marks=marks, max_tokens=8)
        assert [draft.ids for draft in alone] == [draft.ids for draft in together[row]]


def test_a_batch_has_a_row_for_each_source():
    with pytest.raises(UsageError, match="a batch of 2 rows, expected one for each of the 3 sources"):
        Conditional(made("transformer"), 0, sources()).start(2)


def test_a_target_that_is_longer_than_the_context_is_refused():
    model = Conditional(made("transformer"), 0, sources())
    state = model.start(3)
    with pytest.raises(UsageError, match="does not fit into model.context = 20"):
        for _ in range(20):
            state = model.advance(state, np.array([2, 3, 4]))


def test_source_and_target_can_share_their_embedding():
    shape = Shape(pattern="sxf", width=WIDTH, source=Shape(pattern="sf", width=WIDTH, causal=False,
                                                          shared_embedding=True))
    stack = Stack(shape, Sizes(V, V, source=Sizes(V, V)))
    assert stack.source.embedding is stack.embedding
    assert parameters(shape, Sizes(V, V, source=Sizes(V, V))) == sum(each.numel() for each in stack.parameters())
    with pytest.raises(OptionError, match="source and target have different vocabularies"):
        Stack(shape, SIZES)


@pytest.mark.parametrize("name", SHAPES)
def test_costs_count_the_source_too(name):
    stack = made(name)
    assert parameters(SHAPES[name], SIZES) == sum(each.numel() for each in stack.parameters())
    alone = training_memory(Shape(pattern="sf", width=WIDTH), V, (4, 20))
    assert training_memory(SHAPES[name], SIZES, (4, 20)).activations > alone.activations


def test_a_recipe_describes_source_and_pooling():
    from chainrule.families._stepwise import shape_of
    from chainrule.recipe.recipe import load_recipe, make_recipe

    recipe = load_recipe("transformer", ["model.pattern=(sxf)*2", "model.source.pattern=rr", "model.source.width=64",
                                         "model.source.causal=true", "model.pooling=max"])
    shape = shape_of(recipe)
    assert shape.source.pattern == "rr" and shape.source.causal and shape.pooling == {"name": "max"}
    assert make_recipe(recipe.model_dump(mode="json")) == recipe
    assert "source" not in load_recipe("transformer").model_dump()["model"]
    with pytest.raises(Exception, match="no option model.source.patern. Did you mean 'pattern'"):
        load_recipe("transformer", ["model.source.patern=rr"])
