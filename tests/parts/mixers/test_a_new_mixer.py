"""A mixer that is one file outside the package is found, usable from a shape, and keeps the contract of mixers."""

import plugins
import pytest
import torch
from plugins import LOOKING_AHEAD, ONE_COUNT, RUNNING_MEAN

from chainrule.contracts import contract
from chainrule.errors import ChainruleError
from chainrule.models.cost.counting import counted
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build, names, summary

torch.set_num_threads(1)
SHAPE = Shape(pattern="(rsf)*2", width=16, context=8, parts={"r": {"name": "running_mean", "bias": False}})


@pytest.fixture
def _added(tmp_path):
    with plugins.part(tmp_path, "mixers", "running_mean", RUNNING_MEAN):
        yield


def problems():
    """What the contract has against the mixer: the check's sentence, and what is wrong."""
    found = contract.run("parts/mixers", "running_mean")
    assert len(found) >= 15
    return {each.check: each.problem for each in found if each.problem is not None}


@pytest.mark.usefixtures("_added")
def test_it_is_found_by_its_file():
    assert "running_mean" in names("parts/mixers")
    assert summary("parts/mixers", "running_mean") == "The whole past, all of it alike."
    assert build("parts/mixers", {"name": "running_mean", "bias": False}, Place(4)).outward.bias is None


def test_without_the_folder_it_is_unknown(tmp_path):
    with plugins.part(tmp_path, "mixers", "running_mean", RUNNING_MEAN):
        Stack(SHAPE, 11)
    with pytest.raises(ChainruleError, match="no mixer named 'running_mean'"):
        Stack(SHAPE, 11)


@pytest.mark.usefixtures("_added")
def test_it_is_usable_from_a_shape():
    torch.manual_seed(0)
    model, ids = NeuralLanguageModel(Stack(SHAPE, 11).eval(), 1), torch.randint(2, 11, (3, 19))
    state = model.start(3)
    scores = model.score(ids)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)


@pytest.mark.usefixtures("_added")
def test_any_letter_may_stand_for_it_and_its_cost_is_counted():
    shape = Shape(pattern="Mf", width=16, context=8, parts={"M": "running_mean"})
    assert shape.layer_names == ("0 running_mean", "1 swiglu")
    [found] = [part for part in counted(shape, 11) if part.name == "running_mean"]
    assert (found.kind, found.parameters, found.forward) == ("mixer", 16 * 16 + 16, 2 * 16 * 16)


@pytest.mark.usefixtures("_added")
def test_it_keeps_the_contract():
    assert problems() == {}


def test_a_number_for_all_rows_in_its_state_is_refused(tmp_path):
    with plugins.part(tmp_path, "mixers", "running_mean", ONE_COUNT):
        stack = Stack(SHAPE, 11)
        said = "the state of running_mean has count = 0, expected only tensors whose first axis is the row"
        with pytest.raises(ChainruleError, match=said):
            stack.start(3, 4)
        found = problems()
        assert "the state of running_mean has count = 0" in found["Its state holds only tensors, with the row as "
                                                                  "their first axis"]
        assert "Rows that have read different numbers of tokens can be joined, and each continues as if alone" in found


def test_the_contract_notices_a_mixer_that_looks_ahead(tmp_path):
    with plugins.part(tmp_path, "mixers", "running_mean", LOOKING_AHEAD):
        found = problems()
        later = "Where it reads from left to right, a later input never changes an earlier output"
        assert found[later].startswith("outputs before an input that changed at position 1")
        assert found["Reading piece by piece gives the same as reading all at once"].startswith("in pieces of [1, 1, 1")
