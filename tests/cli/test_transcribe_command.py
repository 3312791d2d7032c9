"""chainrule transcribe, predict, inspect and evaluate with recordings: what they print, and what they refuse."""

import json

import numpy as np
import pytest
from command_line import in_this_process, refused
from recorded import tone, write

import chainrule
from chainrule.inputs.small_recordings import strings_of_tones, tones

pytestmark = pytest.mark.usefixtures("one_thread")
STRINGS = ["low high", "high", "middle low", "low"]
SMALL = ["model.width=8", "model.embedding.channels=2", "training.budget.steps=2", "training.batch=4",
         "task.inputs.mels=8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    table = strings_of_tones(folder / "strings", STRINGS)
    chainrule.train("speech-ctc", table, folder / "ctc", overrides=[*SMALL, "tokenizer=words"])
    chainrule.train("speech-classifier", tones(folder / "tones"), folder / "labels", overrides=SMALL)
    return folder


@pytest.fixture
def run(capfd):
    return in_this_process(capfd)


def test_a_line_for_each_recording(folder, run):
    one = run("transcribe", folder / "ctc", folder / "strings" / "0.wav")
    assert one.code == 0 and one.out.count("\n") == 1 and not one.err
    both = run("transcribe", folder / "ctc", folder / "strings" / "0.wav", folder / "strings" / "1.wav", "--scores")
    rows = [line.split("\t") for line in both.out.splitlines()]
    assert [row[0] for row in rows] == [str(folder / "strings" / f"{n}.wav") for n in (0, 1)]
    assert all(float(row[1]) < 0 for row in rows)


def test_a_table_a_folder_and_json(folder, run):
    table = run("transcribe", folder / "ctc", folder / "strings" / "strings.csv", "--json", "--num", "3")
    found = json.loads(table.out)
    assert found["beams"] == 3 and len(found["recordings"]) == len(STRINGS)
    for row in found["recordings"]:
        assert row["text"] == row["texts"][0]["text"] and 1 <= len(row["texts"]) <= 3
    inside = json.loads(run("transcribe", folder / "ctc", folder / "strings", "--json").out)
    assert [row["recording"] for row in inside["recordings"]] == [row["recording"] for row in found["recordings"]]


def test_a_stereo_recording_of_44_khz_is_resampled_and_one_line_says_so(folder, run, tmp_path):
    path = write(tmp_path / "stereo.wav", np.stack([tone(300, 0.3, 44100)] * 2, axis=1), 44100)
    for verb, model in (("transcribe", "ctc"), ("predict", "labels")):
        done = run(verb, folder / model, path)
        assert done.code == 0 and done.err == (f"chainrule: {path}: 44,100 Hz, 2 channels: mixed down and resampled to "
                                               "8,000 Hz mono (task.inputs.rate).\n")


def test_what_is_no_recording_is_refused_in_one_line(folder, run, tmp_path):
    (tmp_path / "cut.wav").write_bytes((folder / "strings" / "0.wav").read_bytes()[:500])
    (tmp_path / "list.csv").write_text("recording\ncut.wav\n")
    refused(run("transcribe", folder / "ctc", tmp_path / "cut.wav"), 1, "cut.wav: the file was cut")
    refused(run("transcribe", folder / "ctc", tmp_path / "list.csv"), 1, "list.csv: line 2:", "cut.wav: the file was "
            "cut")
    refused(run("transcribe", folder / "ctc", tmp_path / "none.wav"), 1, "none.wav: no such file")
    refused(run("transcribe", folder / "labels", folder / "strings" / "0.wav"), 2, "holds a classifier; transcribe "
            "needs a transcriber")
    refused(run("predict", folder / "ctc", folder / "strings" / "0.wav"), 2, "holds a transcriber; predict needs")


def test_evaluate_prints_error_rates_and_the_worst(folder, run):
    done = run("evaluate", folder / "ctc", "--data", folder / "strings" / "strings.csv")
    assert done.code == 0 and "wer " in done.out and "cer " in done.out and "most wrong:" in done.out
    found = json.loads(run("evaluate", folder / "ctc", "--data", folder / "strings" / "strings.csv", "--json").out)
    assert found["recordings"] == 4 and found["wer"] >= 0 and set(found["interval"]) <= {"wer", "cer"}


def test_inspect_draws_what_was_heard(folder, run, tmp_path):
    file = folder / "strings" / "0.wav"
    for model in ("ctc", "labels"):
        for ending in ("svg", "html"):
            done = run("inspect", folder / model, file, "--out", tmp_path / f"{model}.{ending}")
            text = (tmp_path / f"{model}.{ending}").read_text()
            assert done.code == 0 and "<svg" in text and "data:image/png" in text and "seconds" in text
        found = json.loads(run("inspect", folder / model, file, "--json").out)["recordings"][0]
        assert np.array(found["spectrogram"]).shape == (8, round(found["seconds"] / 0.01))
        assert ("text" in found) == (model == "ctc")
    assert len(found["moments"]) == len(found["over_time"][0]["probability"])
    assert found["over_time"][0]["probability"][-1] == pytest.approx(found["labels"][0]["probability"], abs=1e-3)
    refused(run("inspect", folder / "ctc"), 2, "there is nothing to look at. Give a recording")
    refused(run("inspect", folder / "ctc", file, "--tokens", "5"), 2, "--tokens = 5 does nothing with a model of "
            "recordings")
    refused(run("inspect", folder / "ctc", file, "--out", tmp_path / "a.txt"), 2, "expected a name that ends in")
