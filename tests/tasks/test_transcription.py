"""Transcription: strings of tones are learned by CTC and by attention, and what cannot be learned is named."""

import json
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import chainrule
from chainrule.contests import Contested
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inputs.small_recordings import strings_of_tones
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build
from chainrule.tasks._by_ctc import ByCTC
from chainrule.tasks._pairs import EncodedPairs

pytestmark = pytest.mark.usefixtures("one_thread")
STRINGS = ["low high", "high", "middle low", "low", "middle high low", "high high", "middle", "low low high"]
SMALL = ["tokenizer=words", "model.width=24", "model.embedding.channels=4", "model.embedding.subsampling=2",
         "training.batch=8", "training.optimizer.rate=0.01", "task.inputs.augment=null", "model.dropout.rate=0",
         "task.inputs.mels=12", "training.schedule=constant"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return strings_of_tones(tmp_path_factory.mktemp("tones"), STRINGS)


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("ctc") / "run"
    chainrule.train("speech-ctc", table, out, valid=table, overrides=[
        *SMALL, "training.budget.steps=90", "training.evaluate_every=45"])
    return out


def test_ctc_learns_strings_of_tones(run, table):
    found = chainrule.evaluate(run, table)
    assert found["wer"] == 0 and found["cer"] == 0 and found["without_errors"] == 1.0 and found["recordings"] == 8
    report = chainrule.load(run).report
    assert report["best"]["token_error_rate"] == 0 and report["valid"]["wer"] == 0


def test_more_beams_give_more_texts_whose_probabilities_are_sorted(run, table):
    files = [table.parent / f"{n}.wav" for n in range(len(STRINGS))]
    greedy, best = chainrule.transcribe(run, files), chainrule.transcribe(run, files, beams=6)
    assert [own[0][0] for own in greedy] == STRINGS == [own[0][0] for own in best]
    assert all(len(own) == 1 for own in greedy) and all(1 < len(own) <= 6 for own in best)
    for one, several in zip(greedy, best, strict=True):
        assert several[0][1] == pytest.approx(one[0][1], abs=1e-3)
        assert [p for _, p in several] == sorted((p for _, p in several), reverse=True) and several[0][1] < 0


def test_a_recording_is_transcribed_alike_alone_and_beside_others(run, table):
    files = [str(table.parent / f"{n}.wav") for n in range(len(STRINGS))]
    together = chainrule.transcribe(run, files)
    for file, [(text, log_p)] in zip(files, together, strict=True):
        [[(alone, own)]] = chainrule.transcribe(run, [file])
        assert alone == text and own == pytest.approx(log_p, abs=1e-4)


def test_what_was_heard_when_is_in_the_order_of_the_text(run, table):
    model = chainrule.load(run).model
    heard = model.heard(str(table.parent / "4.wav"))
    assert heard.text == "middle high low" and heard.tokens == heard.text.split() and heard.words == [0, 1, 2]
    middles = [(begin + end) / 2 * heard.step for begin, end in heard.spans]
    assert heard.step == pytest.approx(0.02) and heard.weights.shape[0] == 3
    for middle, tone in zip(middles, (0.06, 0.23, 0.40), strict=True):  # 0.12 s each, 0.05 s between
        assert abs(middle - tone) < 0.11


def test_attention_learns_strings_of_tones(table, tmp_path):
    changes = [each for each in SMALL if "embedding" not in each and "dropout" not in each]
    report = chainrule.train("speech-attention", table, tmp_path / "run", valid=table, overrides=[
        *changes, "model.source.embedding.channels=4", "model.source.embedding.subsampling=2", "model.source.width=24",
        "model.dropout.rate=0", "model.source.dropout.rate=0", "training.label_smoothing=0", "model.context=12",
        "training.budget.steps=70", "training.evaluate_every=70"])
    assert report["last"]["loss"] < 1.2  # nats per token; 1.79 without learning
    model = chainrule.load(tmp_path / "run").model
    [several] = model.transcribe([str(table.parent / "0.wav")], beams=3)
    assert 1 <= len(several) <= 3 and several[0][1] < 0
    heard = model.heard(str(table.parent / "0.wav"))
    assert len(heard.tokens) == len(heard.spans) == len(heard.weights) and heard.shows == "attention"
    np.testing.assert_allclose(heard.weights.sum(axis=1), 1, atol=1e-4)


def test_the_contest_has_the_numbers_of_evaluate(run, table):
    recipe = load_recipe("speech-ctc", SMALL)
    task = build("tasks", recipe.task)
    assert isinstance(task, Contested)
    found = task.contest(recipe, [str(table)], [str(table)], fraction=0.1, seed=0)
    answers, nothing = found.answers(chainrule.load(run)), found.baselines()["nothing"]
    assert found.units == "recordings" and found.measure.value(answers.table) == 0 and answers.beside["cer"] == 0
    assert found.measure.value(nothing.table) == 1.0 and nothing.beside["without_errors"] == 0
    assert found.facts() == {"train_recordings": 8, "held_out_recordings": 8}
    assert not found.measure.higher and len(found.held_out.fingerprint()) == 64
    assert task.reading(recipe) == task.reading(load_recipe("speech-attention"))


def test_a_recording_that_is_too_long_is_named_with_its_row(table, tmp_path):
    with pytest.raises(DataError, match=r"strings.csv: line 6: a recording of 50 frames, expected at most "
                                        "model.context = 40. Set a larger one, or cut it"):
        chainrule.train("speech-ctc", table, tmp_path / "run", overrides=[*SMALL, "model.context=40"])


def test_recordings_with_too_few_frames_for_their_text_are_counted():
    network, said = SimpleNamespace(lengths=lambda lengths: (lengths + 1) // 2), []
    pairs = EncodedPairs([np.zeros((n, 3)) for n in (8, 8, 3)], [np.array(ids) for ids in ([1, 2], [1, 1, 1], [1])])
    ByCTC("recordings")._say_short(pairs, network, said.append)
    assert said == ["1 of 3 recordings have fewer vectors than their texts have tokens, so that CTC learns nothing "
                    "from them. Try a smaller model.embedding.subsampling, or a tokenizer with longer tokens."]
    with pytest.raises(DataError, match="1 of 1 recordings have fewer vectors"):
        ByCTC("recordings")._say_short(EncodedPairs(pairs.sources[1:2], pairs.targets[1:2]), network, said.append)


@pytest.mark.parametrize(("recipe", "change", "message"), [
    ("speech-ctc", "model.head=untied", "model.head = 'untied', expected ctc. Other heads need a token for each frame"),
    ("speech-ctc", "model.source.pattern=r", "model.source = 'a stack', expected none with task.by=ctc"),
    ("speech-attention", "model.source=null", "model.source = None, expected a stack that reads the recording"),
    ("speech-ctc", "task.inputs=text", "task.inputs = 'text', expected recordings"),
])
def test_recipes_that_do_not_fit_are_refused(recipe, change, message, table, tmp_path):
    with pytest.raises((OptionError, UsageError), match=message):
        chainrule.train(recipe, table, tmp_path / "run", overrides=[change])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("text", "message"), [
    ("recording,words\n0.wav,low\n", "line 1: no column 'text'"),
    ("recording,text\n0.wav,\n", "line 2: no label, expected one in the field 'text'"),
    ("recording,text\nmissing.wav,low\n", "line 2: .*missing.wav: no such file"),
])
def test_a_table_that_does_not_fit_is_named_with_its_row(text, message, table, tmp_path):
    (table.parent / "other.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        chainrule.train("speech-ctc", table.parent / "other.csv", tmp_path / "run")


def test_the_model_card_says_how_it_is_used(run):
    card = (run / "README.md").read_text()
    assert re.search(r"Transcriber, family `neural`, over `words` tokens", card) and "transcribe THIS_FOLDER" in card
    known = json.loads((run / "known.json").read_text())
    assert known["inputs"]["rate"] == 8000 and len(known["inputs"]["mean"]) == 12


def test_validation_skips_the_loss_of_what_cannot_be_said():
    class Network:
        shape = SimpleNamespace(causal=False)

        def __init__(self):
            from chainrule.parts.place import Place
            torch.manual_seed(0)
            self.head = build("parts/heads", "ctc", Place(4, outputs=3), None)

        def __call__(self, inputs, state, reading):
            return inputs, None

        def lengths(self, lengths):
            return lengths

    from chainrule.tasks._batch import IGNORED, Batch
    batch = Batch(torch.randn(2, 3, 4), torch.tensor([[0, 0, 0], [1, IGNORED, IGNORED]]), 4,
                  lengths=torch.tensor([3, 3]))
    with torch.no_grad():
        found = ByCTC("recordings").validate(Network(), iter([batch]))
    assert math.isfinite(found["loss"]) and found["token_error_rate"] > 0
