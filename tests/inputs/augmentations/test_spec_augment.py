"""SpecAugment: each change by itself does what its option says, and none does nothing."""

import numpy as np
import pytest

from chainrule.errors import OptionError
from chainrule.recipe.registry import build

NONE = {"speed": 0.0, "shift": 0.0, "gain": 0.0, "noise": None, "mel_masks": 0, "time_masks": 0}
HOP = 0.01


def augment(**changes):
    return build("inputs/augmentations", {"name": "spec_augment", **NONE, **changes})


def frames(time=37, mels=11, seed=0):
    return np.random.default_rng(seed).normal(size=(time, mels)).astype(np.float32)


def many(part, log_TM, count=200):
    draw = np.random.default_rng(1)
    return [part.changed(log_TM, HOP, draw) for _ in range(count)]


def test_without_any_change_frames_stay_as_they_are():
    own = frames()
    assert np.array_equal(augment().changed(own, HOP, np.random.default_rng(0)), own)
    assert np.array_equal(augment().masked(own, np.random.default_rng(0)), own)


def test_speed_changes_the_number_of_frames_within_its_bounds():
    lengths = [len(each) for each in many(augment(speed=0.2), frames(100))]
    assert 100 / 1.2 - 1 <= min(lengths) < 90 and 112 < max(lengths) <= 100 / 0.8 + 1
    ramp = np.arange(100, dtype=np.float32)[:, None]
    for found in many(augment(speed=0.2), ramp, 20):
        steps = np.diff(found[:-2, 0])
        assert np.allclose(steps, steps[0], atol=1e-4) and 0.8 <= steps[0] <= 1.2


def test_a_shift_begins_earlier_or_later_with_the_recordings_own_silence():
    own = frames()
    lengths = [len(each) for each in many(augment(shift=0.05), own)]
    assert min(lengths) == 32 and max(lengths) == 42
    later = next(each for each in many(augment(shift=0.05), own) if len(each) == 40)
    assert np.array_equal(later[3:], own) and np.array_equal(later[0], own.min(axis=0))
    assert len(augment(shift=9.0).changed(own[:1], HOP, np.random.default_rng(0))) >= 1


def test_gain_is_in_decibels():
    differences = [float((each - frames()).mean()) for each in many(augment(gain=6.0), frames())]
    assert max(map(abs, differences)) <= 6 * np.log(10) / 10 + 1e-5 and max(differences) > 1.2 > -1.2 > min(differences)


def test_noise_is_at_least_so_much_fainter_and_never_takes_energy_away():
    own = frames()
    for each in many(augment(noise=20.0), own, 50):
        added = np.exp(each) - np.exp(own)
        assert (added >= -1e-4).all() and 0 < added.mean() < 2 * np.exp(own).mean() / 100


def test_masks_cover_stretches_of_time_and_bands_no_wider_than_asked():
    part, draw = augment(time_masks=1, time_width=4, mel_masks=1, mel_width=3), np.random.default_rng(2)
    seen = set()
    for _ in range(200):
        hidden = part.masked(np.ones((50, 11), np.float32), draw) == 0
        times, bands = hidden.all(axis=1), hidden.all(axis=0)
        assert times.sum() <= 4 and bands.sum() <= 3 and np.array_equal(hidden, times[:, None] | bands)
        for own in (times, bands):
            assert np.abs(np.diff(np.concatenate([[0], own.astype(int), [0]]))).sum() <= 2  # one stretch
        seen.add((int(times.sum()), int(bands.sum())))
    assert {each for each, _ in seen} == set(range(5)) and {each for _, each in seen} == set(range(4))
    assert part.masked(np.ones((2, 11), np.float32), draw).any(axis=1).all()  # a fifth of two frames is none


@pytest.mark.parametrize(("option", "value"), [("speed", 1.0), ("shift", -1.0), ("gain", -3.0), ("time_masks", -1)])
def test_impossible_changes_are_refused(option, value):
    with pytest.raises(OptionError, match=f"SpecAugment.{option} = {value}, expected at least 0"):
        augment(**{option: value})
