"""Recordings as a modality: normalized frames, one rate for all, and one clear line with file and row."""

import logging
import os
from types import SimpleNamespace

import numpy as np
import pytest
from recorded import tone, write

import chainrule
from chainrule.errors import DataError, OptionError
from chainrule.inputs.small_recordings import tones
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build

pytestmark = pytest.mark.usefixtures("one_thread")


def modality(**options):
    return build("inputs/modalities", {"name": "recordings", **options})


def learned(made, paths):
    values = [os.fsencode(path) for path in paths]
    return values, made.learn(values, SimpleNamespace())[1]


def test_frames_have_mean_0_and_deviation_1_over_the_training_data(tmp_path):
    paths = [write(tmp_path / f"{n}.wav", tone(200 + 150 * n, 0.2 + 0.05 * n)) for n in range(6)]
    made = modality(mels=13)
    values, facts = learned(made, paths)
    inputs, lengths = made.batch(made.encode(values, None, facts, 1000), facts, None)
    real = inputs[np.arange(inputs.shape[1]) < lengths[:, None]]
    np.testing.assert_allclose(real.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(real.std(0), 1, atol=1e-3)
    assert inputs.dtype == np.float32 and not inputs[0, lengths[0]:].any() and inputs.shape[2] == 13


def test_the_rate_is_that_of_most_recordings_and_at_most_16_khz(tmp_path):
    paths = [write(tmp_path / f"{n}.wav", tone(300, rate=rate), rate) for n, rate in enumerate([8000, 8000, 11025])]
    assert learned(modality(), paths)[1]["rate"] == 8000
    assert learned(modality(rate=6000), paths)[1]["rate"] == 6000
    paths = [write(tmp_path / "a.wav", tone(300, rate=44100), 44100)]
    assert learned(modality(), paths)[1]["rate"] == 16_000


def test_a_stereo_recording_of_44_khz_is_mixed_down_and_resampled_and_a_line_says_so(tmp_path, caplog):
    plain = write(tmp_path / "plain.wav", tone(440, 0.4))
    stereo = write(tmp_path / "stereo.wav", np.stack([tone(440, 0.4, 44100)] * 2, axis=1), 44100)
    made = modality()
    values, facts = learned(made, [plain])
    with caplog.at_level(logging.INFO, logger="chainrule"):
        one, other = made.encode([*values, os.fsencode(stereo)], None, facts, 1000)
    assert [record.getMessage() for record in caplog.records] == [
        f"{stereo}: 44,100 Hz, 2 channels: mixed down and resampled to 8,000 Hz mono (task.inputs.rate)."]
    loud = one > one.max() - 8
    assert one.shape == other.shape and np.abs(one - other)[2:-2][loud[2:-2]].max() < 0.05


def test_only_the_beginning_of_a_long_recording_is_read_and_a_line_says_so(tmp_path, caplog):
    path = write(tmp_path / "long.wav", tone(440, 1.0))
    made = modality()
    values, facts = learned(made, [path])
    [own] = made.encode(values, None, facts, 30)
    assert len(own) == 30 and f"{path} is longer than model.context = 30 frames (0.3 s)" in caplog.text


def test_augmentation_is_only_in_training(tmp_path):
    made = modality(augment="spec_augment")
    values, facts = learned(made, [write(tmp_path / "a.wav", tone(440, 0.5))])
    arrays = made.encode(values, None, facts, 1000)
    plain = made.batch(arrays, facts, None)[0]
    assert np.array_equal(plain, modality().batch(arrays, facts, None)[0])
    one, again, other = (made.batch(arrays, facts, np.random.default_rng(seed))[0] for seed in (1, 1, 2))
    assert np.array_equal(one, again) and one.shape != plain.shape or not np.array_equal(one, plain)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_the_spectrogram_has_low_pitches_below(tmp_path):
    made = modality()
    values, facts = learned(made, [write(tmp_path / f"{hertz}.wav", tone(hertz)) for hertz in (200, 3000)])
    low, high = (made.spectrogram(each, facts)[:, 10] for each in made.encode(values, None, facts, 1000))
    assert low.argmax() > 30 and high.argmax() < 10


def test_a_classifier_of_recordings_learns_from_folders_and_from_a_table(tmp_path):
    folder = tones(tmp_path / "tones", count=8)
    rows = [f"tones/{path.parent.name}/{path.name},{path.parent.name}" for path in sorted(folder.rglob("*.wav"))]
    (tmp_path / "table.csv").write_text("\n".join(["recording,label", *rows]) + "\n")
    small = ["training.budget.steps=40", "model.width=16", "model.embedding.channels=4", "training.batch=8",
             "training.optimizer.rate=0.02", "task.inputs.augment=null", "model.dropout.rate=0"]
    chainrule.train("speech-classifier", tmp_path / "table.csv", tmp_path / "run", overrides=small)
    assert chainrule.evaluate(tmp_path / "run", folder)["accuracy"] == 1.0
    assert chainrule.evaluate(tmp_path / "run", tmp_path / "table.csv")["accuracy"] == 1.0
    [[(label, p)]] = chainrule.predict(tmp_path / "run", [str(folder / "high" / "3.wav")])
    assert label == "high" and p > 0.5


@pytest.mark.parametrize(("name", "data", "message"), [
    ("c.wav", None, r"table.csv: line 3: .*c.wav: no such file. Paths are relative to the table's folder"),
    ("c.wav", b"", r"table.csv: line 3: .*c.wav: an empty file, expected a WAV recording"),
    ("c.wav", b"OggS....", r"table.csv: line 3: .*c.wav: not a WAV file: it begins with b'OggS'"),
])
def test_a_file_that_cannot_be_read_is_named_with_its_row(tmp_path, name, data, message):
    write(tmp_path / "a.wav", tone(300))
    if data is not None:
        (tmp_path / name).write_bytes(data)
    (tmp_path / "table.csv").write_text(f"recording,label\na.wav,x\n{name},y\n")
    with pytest.raises(DataError, match=message):
        chainrule.train("speech-classifier", tmp_path / "table.csv", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_options_that_cannot_be_are_refused():
    for change, message in (("task.inputs.rate=10", "rate = 10, expected at least 1000"),
                            ("task.inputs.mels=0", "mels = 0, expected at least 1")):
        recipe = load_recipe("speech-classifier", [change])
        with pytest.raises(OptionError, match=message):
            build("tasks", recipe.task)
