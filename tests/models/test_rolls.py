"""Piano rolls by a network: stepping and reading at once agree, also beyond the context; draws follow the model."""

import numpy as np
import pytest
import torch

from chainrule.models.rolls import FEATURES, RollModel, _Reader, inputs_of, nats_of
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack

pytestmark = pytest.mark.usefixtures("one_thread")
RELATIVE = {"name": "attention", "heads": 2, "attend": {"name": "relative", "furthest": 5}}


def made(pattern="s", context=8):
    torch.manual_seed(0)
    shape = Shape(pattern=pattern, width=12, context=context, parts={"s": RELATIVE}, position="none",
                  embedding="frames", head="independent")
    stack = Stack(shape, Sizes(0, 88, (FEATURES,)))
    for parameter in stack.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.4)
    return RollModel(stack, None)


def roll(steps, seed=0):
    return (np.random.default_rng(seed).random((steps, 88)) < 0.1).astype(np.uint8)


@torch.inference_mode()
@pytest.mark.parametrize("pattern", ["r", "s", "rs"])
@pytest.mark.parametrize("steps", [1, 3, 8, 9, 12, 13, 30])
def test_frame_by_frame_gives_what_the_whole_piece_gives(pattern, steps):
    model, own = made(pattern), roll(steps)
    [whole] = model.scores_of([own])
    inputs = torch.from_numpy(inputs_of(own))[None]
    for first in {1, min(3, steps), steps}:  # so many frames are the prompt
        reader = _Reader(model, inputs[:, :first])
        for t in range(first, steps + 1):
            np.testing.assert_allclose(reader.scores[0].numpy(), whole[t - 1], rtol=1e-4, atol=1e-4)
            if t < steps:
                reader.read(inputs[:, t])


def test_a_piece_does_not_depend_on_those_beside_it():
    model, rolls = made(), [roll(5, 1), roll(20, 2), roll(1, 3)]
    for one, own in zip(rolls, model.scores_of(rolls), strict=True):
        np.testing.assert_allclose(own, model.scores_of([one])[0], rtol=1e-5, atol=1e-5)


def test_a_frame_does_not_depend_on_itself_nor_on_later_ones():
    model, own = made("rs"), roll(12)
    changed = own.copy()
    changed[6:] = 1 - changed[6:]
    before, after = model.scores_of([own, changed])
    np.testing.assert_allclose(after[:7], before[:7], atol=1e-6)
    assert np.abs(after[7] - before[7]).max() > 1e-3


def test_nats_are_those_of_each_key_by_itself():
    score, own = np.array([[0.0, 2.0, -900.0]]), np.array([[1, 0, 0]])
    expected = [[-np.log(0.5), -np.log(1 - 1 / (1 + np.exp(-2.0))), 0.0]]
    np.testing.assert_allclose(nats_of(score, own), expected)


def test_draws_have_the_probability_that_is_told_and_depend_on_their_seed_alone():
    model, begin = made("r"), roll(4)
    frames, log_p = model.continued(begin, 6, [7, 8, 7])
    assert frames.shape == (3, 6, 88) and np.array_equal(frames[0], frames[2])
    assert not np.array_equal(frames[0], frames[1])
    for own, told in zip(frames, log_p, strict=True):
        whole = np.concatenate([begin, own])
        [score] = model.scores_of([whole])
        assert told == pytest.approx(-nats_of(score, whole)[4:].sum(), rel=1e-4)
    alone, _ = model.continued(begin, 6, [8])
    assert np.array_equal(alone[0], frames[1])


def test_first_frames_are_drawn_as_often_as_the_model_says():
    model = made("r")
    [score] = model.scores_of([roll(1)])
    frames, _ = model.continued(np.zeros((0, 88), np.uint8), 1, range(2_000))
    chance = 1 / (1 + np.exp(-score[0]))
    error = np.sqrt(chance * (1 - chance) / 2_000)
    assert (np.abs(frames[:, 0].mean(axis=0) - chance) < 5 * error + 1e-3).all()


def test_without_temperature_the_likelier_state_of_each_key_is_taken():
    model = made("r")
    frames, _ = model.continued(roll(3), 4, [1, 2], temperature=0)
    assert np.array_equal(frames[0], frames[1])
    [score] = model.scores_of([np.concatenate([roll(3), frames[0]])])
    assert np.array_equal(frames[0], score[3:] > 0)
