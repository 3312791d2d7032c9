"""A model of images: it scores pixel by pixel as all at once, and draws what continues a beginning."""

import math

import numpy as np
import pytest
import torch

from chainrule.arrays import to_numpy
from chainrule.models.pixels import PixelModel
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.recipe.registry import build
from chainrule.tasks._known import Known

pytestmark = pytest.mark.usefixtures("one_thread")
SIZE, LEVELS = (3, 4), 5


@pytest.fixture(scope="module", params=["s", "r"])
def model(request):
    torch.manual_seed(0)
    shape = Shape(pattern=request.param, width=8, context=12, head="untied", position="learned",
                  parts={"s": {"name": "attention", "heads": 2}})
    palette = np.round(np.linspace(0, 255, LEVELS)).astype(int)[:, None].tolist()
    return PixelModel(Stack(shape, LEVELS + 1), Known(None, Sizes.of(LEVELS + 1), {
        "size": list(SIZE), "channels": 1, "palette": palette}))


TOKENS = np.random.default_rng(0).integers(0, LEVELS, (3, 12))


def test_scores_are_those_of_one_pixel_after_another(model):
    state, found = model.language.start(3), []
    for t in range(12):
        found.append(to_numpy(model.language.log_probs(state))[np.arange(3), TOKENS[:, t]])
        state = model.language.advance(state, TOKENS[:, t])
    np.testing.assert_allclose(model.log_probs_of(TOKENS), np.stack(found, 1), atol=1e-5)


def test_the_probabilities_of_all_images_sum_to_one(model):
    """Of the last pixel, whatever came before it."""
    every = np.repeat(TOKENS[:1], LEVELS, axis=0)
    every[:, -1] = np.arange(LEVELS)
    assert np.exp(model.log_probs_of(every)[:, -1]).sum() == pytest.approx(1, abs=1e-5)


def test_what_is_drawn_begins_as_asked_and_has_its_log_probability(model):
    strategy = build("generation/strategies", {"name": "sample", "seed": 1})
    begin = np.repeat(TOKENS[:1, :4], 3, axis=0)
    ids, log_p = model.draw(begin, strategy, [])
    assert ids.shape == (3, 12) and np.array_equal(ids[:, :4], begin) and ids.max() < LEVELS
    np.testing.assert_allclose(log_p, model.log_probs_of(ids)[:, 4:].sum(1), atol=1e-4)
    again, _ = model.draw(begin, build("generation/strategies", {"name": "sample", "seed": 1}), [])
    assert np.array_equal(again, ids) and len({tuple(row) for row in ids.tolist()}) > 1


def test_pictures_and_tokens_are_reverses(model):
    pictures = model.pictures(TOKENS)
    assert pictures.shape == (3, *SIZE, 1) and np.array_equal(model.tokens(list(pictures)), TOKENS)


def test_a_fresh_model_needs_about_the_bits_of_its_levels(model):
    assert -model.log_probs_of(TOKENS).mean() / math.log(2) == pytest.approx(math.log2(LEVELS), rel=0.2)
