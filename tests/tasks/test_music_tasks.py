"""Music as piano rolls and as events: what is learned, measured, compared, generated and shown."""

import json
import math
from fractions import Fraction

import mido
import numpy as np
import pytest

import chainrule
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inputs.music import roll_of
from chainrule.inputs.music_events import events_of, piece_of_events
from chainrule.inspection.pieces import explain_pieces, piece_figures
from chainrule.recipe.recipe import load_recipe, make_recipe
from chainrule.recipe.registry import build
from chainrule.tasks.piano_rolls import _examples, _stretches
from chainrule.verbs.generate import Sampling, check_out, read_prompt, write_files

pytestmark = pytest.mark.usefixtures("one_thread")
TRAINING = {"budget": {"steps": 120}, "batch": 8, "device": "cpu", "schedule": "constant",
            "optimizer": {"name": "adamw", "rate": 0.01}}
ROLLS = {"family": "neural", "tokenizer": None, "task": "piano_rolls", "training": TRAINING, "model": {
    "pattern": "r", "width": 32, "context": 12, "position": "none", "embedding": "frames", "head": "independent"}}
EVENTS = {"family": "neural", "tokenizer": "words", "task": "music_events", "training": TRAINING, "model": {
    "pattern": "sf", "width": 32, "context": 40, "position": "none", "s": {"name": "attention", "attend": "relative"}}}
RECIPES = {"rolls": ROLLS, "events": EVENTS}


def alternating(low):
    """Two chords in turn: after the first frame, nothing is a surprise."""
    return [[low, low + 4], [low + 2, low + 7, low + 11]] * 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("music")
    parts = {"train": [alternating(50 + n % 4) for n in range(16)], "valid": [alternating(51), alternating(53)],
             "test": [alternating(50 + n) for n in range(4)]}
    (found / "a.json").write_text(json.dumps(parts))
    for name, recipe in RECIPES.items():
        chainrule.train(make_recipe(recipe), found / "a.json", found / name)
    return found


@pytest.mark.parametrize("name", RECIPES)
def test_what_follows_the_first_frame_is_known(folder, name):
    found = chainrule.evaluate(folder / name, f"{folder / 'a.json'}:test")
    assert (found["pieces"], found["frames"]) == (4, 80)
    assert found["frame_nll"] < 1.2  # an untrained model: 61; the first frame of four needs ln 4 nats of twenty frames
    low, high = found["interval"]["frame_nll"]
    assert low <= found["frame_nll"] <= high
    if name == "rolls":
        assert found["frame_accuracy"] > 0.9 and found["frame_nll_after_first"] < found["frame_nll"]
    else:
        assert found["perplexity"] == pytest.approx(2 ** found["bits_per_event"])


@pytest.mark.parametrize("name", RECIPES)
def test_a_run_is_validated_on_the_part_of_that_name(folder, name):
    report = chainrule.load(folder / name).report
    assert report["valid"]["pieces"] == 2 and report["best"]["loss"] < 3


@pytest.mark.parametrize("name", RECIPES)
def test_frames_add_up_to_the_piece(folder, name):
    run = chainrule.load(folder / name)
    task = build("tasks", run.recipe.task)
    pieces = task.open([f"{folder / 'a.json'}:test"], run.recipe).pieces
    table, frames = task.answered(run, pieces), task.by_frame(run, pieces)
    np.testing.assert_allclose([own.sum() for own in frames], table[:, 0], rtol=1e-9)
    assert [len(own) for own in frames] == table[:, 1].tolist() == [20] * 4


def test_the_frame_nll_of_rolls_is_by_the_definition(folder):
    run = chainrule.load(folder / "rolls")
    task = build("tasks", run.recipe.task)
    [piece] = task.open([f"{folder / 'a.json'}:test#1"], run.recipe).pieces
    roll, p, total = roll_of(piece), task.probabilities(run, piece), 0.0
    for t in range(20):
        for key in range(88):
            total -= math.log(p[t, key] if roll[t, key] else 1 - p[t, key])
    assert chainrule.evaluate(run, f"{folder / 'a.json'}:test#1")["frame_nll"] == pytest.approx(total / 20, rel=1e-6)


def test_the_frame_nll_of_events_is_that_of_its_words_without_the_end(folder):
    run = chainrule.load(folder / "events")
    task = build("tasks", run.recipe.task)
    [piece] = task.open([f"{folder / 'a.json'}:test#1"], run.recipe).pieces
    ids = run.tokenizer.encode(events_of(piece))
    state, total = run.model.start(1), 0.0
    for id in ids:
        total -= float(run.model.log_probs(state)[0, int(id)])
        state = run.model.advance(state, np.array([id]))
    assert chainrule.evaluate(run, f"{folder / 'a.json'}:test#1")["frame_nll"] == pytest.approx(total / 20, rel=1e-4)


@pytest.mark.parametrize("name", RECIPES)
def test_a_prompt_goes_on_and_becomes_a_file_that_a_player_opens(folder, name, tmp_path):
    run, given = chainrule.load(folder / name), f"{folder / 'a.json'}:test#2"
    prompt = read_prompt(run, given, 4)
    assert piece_of_events(prompt).steps == 4
    [likeliest] = chainrule.generate(run, prompt, max_tokens=16, sampling=Sampling(temperature=0))
    made = [likeliest, likeliest]
    whole = piece_of_events(f"{prompt} {made[0].text}")
    expected = piece_of_events(read_prompt(run, given, whole.steps))
    assert whole.steps > 5 and whole.notes == expected.notes
    files = write_files(run, prompt, made, tmp_path / "song.mid")
    assert [file.name for file in files] == ["song-1.mid", "song-2.mid"]
    struck = [message for message in mido.MidiFile(files[0]) if message.type == "note_on" and message.velocity]
    assert len(struck) == len(whole.notes)
    [svg] = write_files(run, prompt, made[:1], tmp_path / "song.svg")
    assert svg.read_text().startswith("<svg") and svg.read_text().count("M") > len(whole.notes)
    [png] = write_files(run, prompt, made[:1], tmp_path / "song.png")
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", RECIPES)
def test_a_seed_gives_the_same_music_again(folder, name):
    run, how = chainrule.load(folder / name), Sampling(seed=3, temperature=2.0)
    one, other = (chainrule.generate(run, num=2, max_tokens=12, sampling=how) for _ in range(2))
    assert one == other and one[0].text != one[1].text


def test_files_and_options_that_cannot_be_are_refused(folder, tmp_path):
    run = chainrule.load(folder / "rolls")
    with pytest.raises(UsageError, match=r"song.wav', expected a name that ends in .mid, .midi, .svg or .png"):
        check_out(run, tmp_path / "song.wav")
    with pytest.raises(UsageError, match="--top-k = 3 is for models that choose one token at a time"):
        chainrule.generate(run, sampling=Sampling(top_k=3))
    with pytest.raises(OptionError, match="--prompt = .*test', expected one piece, and not 4"):
        chainrule.generate(run, f"{folder / 'a.json'}:test")
    with pytest.raises(DataError, match="several parts, and none is named"):
        chainrule.evaluate(run, folder / "a.json")
    with pytest.raises(OptionError, match="model.head = 'untied', expected independent"):
        chainrule.train(make_recipe({**ROLLS, "model": {**ROLLS["model"], "head": "untied"}}), folder / "a.json",
                        tmp_path / "run")
    with pytest.raises(OptionError, match="tokenizer = 'bytes', expected words"):
        chainrule.train(make_recipe({**EVENTS, "tokenizer": "bytes"}), folder / "a.json", tmp_path / "run")
    with pytest.raises(OptionError, match="task.transpose = 13, expected 0 to 12 semitones"):
        build("tasks", {"name": "piano_rolls", "transpose": 13})


def test_pieces_are_held_out_whole_and_none_twice(folder):
    recipe = load_recipe("music-rnn")
    task = build("tasks", recipe.task)
    corpus = task.open([f"{folder / 'a.json'}:train"], recipe)
    train, valid = task.split(corpus, 0.25, 0)
    assert (len(train.pieces), len(valid.pieces)) == (12, 4)
    assert {*train.pieces, *valid.pieces} == {*corpus.pieces} and not {*train.pieces} & {*valid.pieces}
    folds = [task.fold(corpus, k, 4, 0)[1].pieces for k in range(4)]
    assert sorted(each.source for own in folds for each in own) == sorted(each.source for each in corpus.pieces)
    assert Fraction(len(folds[0]), 16) == Fraction(1, 4)


def test_transposed_rolls_stay_on_the_piano_and_move_as_a_whole(folder):
    task = build("tasks", {"name": "piano_rolls", "transpose": 5})
    pieces = [piece_of_events("on21 on40 t2 off21 t3"), piece_of_events("on60 t2 on64 t2")]
    stretches = _stretches(pieces, 100, task.transpose)
    assert [list(each.shifts) for each in stretches] == [list(range(6)), list(range(-5, 6))]
    collate, seen = _examples(stretches, 0).collate, set()
    for step in range(40):
        batch = collate(np.array([1]), step)
        [[lowest]] = np.argwhere(batch.targets[0, 0] == 1)
        assert np.array_equal(batch.inputs[0, 1:, :88], batch.targets[0, :-1]) and batch.inputs[0, 0, 88] == 1
        assert batch.targets[0, 2].nonzero()[0].tolist() == [lowest, lowest + 4]
        seen.add(int(lowest) + 21 - 60)
    assert seen == set(range(-5, 6))
    assert np.array_equal(collate(np.array([1]), -1).targets[0], roll_of(pieces[1]))  # in validation nothing moves


def test_events_are_read_in_all_keys(folder):
    recipe = make_recipe({**EVENTS, "task": {"name": "music_events", "transpose": 1}})
    task = build("tasks", recipe.task)
    corpus = task.open([f"{folder / 'a.json'}:test#0"], recipe)
    found = [events_of(piece).split()[0] for piece in task._in_all_keys(corpus).pieces]
    assert found == ["on49", "on50", "on51"]


def test_long_pieces_are_cut_for_training_and_counted_by_the_frame():
    stretches = _stretches([piece_of_events("on60 t16 t9")], 12, 0)
    assert [len(each.roll) for each in stretches] == [12, 12, 1] and stretches[1].inputs[0, 39] == 1
    batch = _examples(stretches, 0).collate(np.array([0, 2]), 0)
    assert (batch.count, batch.rows(1, 2).count, batch.tokens) == (13, 1, 13)
    assert (batch.targets[1, 1:] == -100).all()


@pytest.mark.parametrize("name", RECIPES)
def test_a_piece_is_explained_with_figures(folder, name):
    found = explain_pieces(folder / name, [f"{folder / 'a.json'}:test#1"])
    [each] = found["pieces"]
    assert each["steps"] == 20 == len(each["nats"])
    assert each["frame_nll"] == pytest.approx(sum(each["nats"]) / 20, abs=1e-3)
    figures = piece_figures(each, found["step"])
    assert len(figures) == (2 if name == "events" else 1)  # only one has attention
    assert (each["probabilities"] is None) == (name == "events")
    assert "nats of each step" in figures[0].svg()


def test_rolls_and_events_are_compared_on_the_same_pieces(folder):
    contests = []
    for recipe in (make_recipe(each) for each in RECIPES.values()):
        task = build("tasks", recipe.task)
        contests.append(task.contest(recipe, [str(folder / "a.json")], None, fraction=0.1, seed=0))
    one, other = contests
    assert one.held_out.fingerprint() == other.held_out.fingerprint() and one.split == 0
    assert one.facts() == {"train_pieces": 16, "held_out_pieces": 2}
    values = {name: one.measure.value(answers.table) for name, answers in one.baselines().items()}
    for name in RECIPES:
        values[name] = one.measure.value(one.answers(chainrule.load(folder / name)).table)
    assert max(values["rolls"], values["events"]) < values["each key by the frame before"] \
        < values["frequencies of keys"]


def test_the_frequencies_of_keys_are_counted_by_hand(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"train": [[[60], [60, 62]]], "valid": [[[60]]]}))
    recipe = make_recipe(ROLLS)
    contest = build("tasks", recipe.task).contest(recipe, [str(tmp_path / "a.json")], None, fraction=0.1, seed=0)
    expected = -math.log(3 / 4) - math.log(1 - 2 / 4) - 86 * math.log(1 - 1 / 4)
    assert contest.baselines()["frequencies of keys"].table.tolist() == [[pytest.approx(expected), 1]]
