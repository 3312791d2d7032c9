"""Masked language modeling: which tokens are hidden and how, what is learned from it, and how gaps are filled."""

import json
import math

import numpy as np
import pytest
import torch
from toys import Bytes

import chainrule
from chainrule.cli.app import main
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.protocols import Filler
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build
from chainrule.tasks._batch import IGNORED
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.masked_language import Hiding, MaskedLanguage
from chainrule.training.plan import Plan

pytestmark = pytest.mark.usefixtures("one_thread")
MASK, START, END = 258, 0, 1  # of toys.Bytes
PAIRS = [("cat", "sat"), ("dog", "ran"), ("cow", "ate"), ("bird", "sang")]  # each noun has one verb
SMALL = ["task=masked_language", "tokenizer=words", "model.pattern=(sf)*2", "model.width=32", "model.context=12",
         "model.s.heads=2", "training.batch=16", "training.optimizer=adamw", "training.optimizer.rate=0.01",
         "training.budget.steps=300", "training.keep=0", "training.device=cpu", "task.rate=0.3", "model.dropout.rate=0"]


def ids(tokens=4000, seed=0):
    """Units of about ten bytes."""
    found = np.random.default_rng(seed).integers(2, 258, tokens).astype(np.int32)
    found[9::10] = END
    return found


def hidden(stream, number=0, *, seed=0, rows=1, **options):
    """The whole stream as one batch."""
    length = len(stream) // rows
    hide = Hiding(MaskedLanguage(**options), Bytes(), seed)
    return hide(stream, np.arange(rows) * length, length, number, fresh=True)


def data(steps_before=0, seed=3):
    task, plan = MaskedLanguage(), Plan(batch=4, seed=seed)
    network = Stack(Shape(pattern="sf", width=8, context=20, causal=False), MASK + 1)
    read = TextRead(Text(ids()), Text(ids(300, seed=1)), START, END, Bytes())
    found = task.training_data(read, network, plan, print)
    for step in range(steps_before):
        found.batch(step)
    return network, task, found


def test_hidden_tokens_are_a_function_of_seed_and_step():
    (_, _, one), (_, _, other), (_, _, third) = data(), data(steps_before=7), data(seed=4)
    batch, again = one.batch(9), other.batch(9)
    np.testing.assert_array_equal(batch.inputs, again.inputs)
    np.testing.assert_array_equal(batch.targets, again.targets)
    assert (one.batch(10).targets != batch.targets).any() and (third.batch(9).targets != batch.targets).any()
    stream = ids()
    masks = [hidden(stream, number, seed=seed).targets != IGNORED for number, seed in ((0, 0), (1, 0), (0, 1))]
    assert (masks[0] != masks[1]).any() and (masks[0] != masks[2]).any()


def test_validation_hides_the_same_tokens_each_time():
    _, _, found = data()
    for one, other in zip(found.validation(2), found.validation(2), strict=True):
        np.testing.assert_array_equal(one.inputs, other.inputs)
        np.testing.assert_array_equal(one.targets, other.targets)


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_a_share_of_the_tokens_is_hidden_most_as_masks_some_as_others_some_not_at_all(rate):
    stream = ids(200_000)
    batch = hidden(stream, rate=rate)
    where = batch.targets != IGNORED
    assert batch.count == where.sum() == pytest.approx(rate * (stream != END).sum(), rel=0.02)
    np.testing.assert_array_equal(batch.targets[where], stream[None][where])
    np.testing.assert_array_equal(batch.inputs[~where], stream[None][~where])
    read, wanted = batch.inputs[where], batch.targets[where]
    same = 1 / 256  # a random token may be the one that was there
    assert (read == MASK).mean() == pytest.approx(0.8, abs=0.01)
    assert ((read != MASK) & (read != wanted)).mean() == pytest.approx(0.1 * (1 - same), abs=0.01)
    assert (read == wanted).mean() == pytest.approx(0.1 * (1 + same), abs=0.01)


def test_the_shares_are_options():
    batch = hidden(ids(20_000), masked=0.0, replaced=1.0)
    where = batch.targets != IGNORED
    assert (batch.inputs != MASK).all()
    assert (batch.inputs[where] != batch.targets[where]).mean() > 0.98
    batch = hidden(ids(20_000), masked=1.0, replaced=0.0)
    assert ((batch.inputs == MASK) == (batch.targets != IGNORED)).all()


def test_marks_are_never_hidden_and_never_put_in_the_place_of_others():
    stream = ids(50_000)
    batch = hidden(stream, rate=0.9, masked=0.1, replaced=0.8)
    marks = stream[None] == END
    assert (batch.targets[marks] == IGNORED).all() and (batch.inputs[marks] == END).all()
    assert not np.isin(batch.inputs[~marks], [START, END]).any()


@pytest.mark.parametrize("stream", [ids(40), np.array([7]), np.array([END, END, 9, END]), np.array([END, END])])
def test_at_least_one_token_is_hidden(stream):
    for number in range(20):
        batch = hidden(stream, number, rate=1e-9)
        assert batch.count == (batch.targets != IGNORED).sum() == 1


def test_the_loss_is_that_of_the_hidden_tokens_alone():
    network, task, found = data()
    network.eval()
    batch = found.batch(0).sent(torch.from_numpy, None)
    with torch.no_grad():
        log_p = network.head.log_probs(network(batch.inputs)[0])
        loss, count, state = task.loss(network, batch)
        measured = task.validate(network, iter([batch]))
    places = [(row, t) for row in range(4) for t in range(20) if batch.targets[row, t] != IGNORED]
    expected = [-log_p[row, t, batch.targets[row, t]].item() for row, t in places]
    right = [log_p[row, t].argmax() == batch.targets[row, t] for row, t in places]
    assert count == len(places) == batch.count and state is None
    assert loss.item() == pytest.approx(sum(expected), rel=1e-5)
    assert measured == {"loss": pytest.approx(np.mean(expected), rel=1e-5), "accuracy": np.mean(right)}
    assert task.validate(network, iter([])) == {}


@pytest.mark.parametrize(("options", "words"), [
    ({"rate": 0.0}, "task.rate = 0.0, expected between 0 and 1"),
    ({"rate": 1.0}, "task.rate = 1.0, expected between 0 and 1"),
    ({"masked": 0.9, "replaced": 0.2}, "expected shares that sum to at most 1"),
    ({"masked": -0.1}, "expected shares that sum to at most 1"),
])
def test_impossible_shares_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        MaskedLanguage(**options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A model that has seen each noun with its verb, and nothing else."""
    folder = tmp_path_factory.mktemp("masked")
    chance = np.random.default_rng(0)
    lines = (PAIRS[n] for n in chance.integers(0, len(PAIRS), 400))
    (folder / "text.txt").write_text("".join(f"the {noun} {verb}\n" for noun, verb in lines))
    report = chainrule.train("transformer", folder / "text.txt", folder / "run", overrides=SMALL)
    assert report["vocabulary"] == 3 + 9 and report["training"]["loss"] < 2
    return folder / "run"


@pytest.mark.parametrize(("noun", "verb"), PAIRS)
def test_the_right_word_comes_first_where_it_is_certain(run, noun, verb):
    model = chainrule.load(run).model
    assert isinstance(model, Filler)
    before, = model.fill(f"the [MASK] {verb}")
    behind, = model.fill(f"the {noun} [MASK]", top=3)
    assert before[0][0] == noun and behind[0][0] == verb and before[0][1] > 0.5 < behind[0][1]
    assert len(before) == 5 and len(behind) == 3
    for guesses in (before, behind):
        chances = [chance for _, chance in guesses]
        assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1 + 1e-6


def test_both_sides_of_a_gap_are_read_and_all_guesses_sum_to_one(run):
    model = chainrule.load(run).model
    found = model.fill("[MASK] [MASK] sat", top=10**6)
    assert len(found) == 2 and found[0][0][0] == "the" and found[1][0][0] == "cat"
    for guesses in found:
        assert sum(chance for _, chance in guesses) == pytest.approx(1, abs=1e-5)
        assert not {"<s>", "[MASK]"} & {token for token, _ in guesses}
    one, other = (dict(model.fill(f"the [MASK] {verb}")[0]) for verb in ("sat", "ran"))
    assert one["cat"] > 0.5 > other.get("cat", 0.0), "what stands behind decides"


def test_a_text_without_a_gap_or_too_long_gives_one_clear_line(run):
    model = chainrule.load(run).model
    with pytest.raises(UsageError) as error:
        model.fill("the cat sat")
    assert str(error.value) == "'the cat sat' has no [MASK], expected one for each gap: 'The [MASK] sat on the mat'."
    with pytest.raises(UsageError) as error:
        model.fill("the [MASK] sat " * 10)
    assert str(error.value) == ("the text has 32 tokens with its two marks, expected at most model.context = 12. Give "
                                "a shorter passage.")
    assert len(model.fill("the [MASK] sat the cat sat the cat sat the")) == 1, "ten tokens and two marks fit"


def test_evaluate_measures_the_hidden_tokens(run, capsys):
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(run), "--data", str(run.parent / "text.txt"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert end.value.code == 0 and found["tokens"] == 400 * 4
    assert 0.25 * 1200 < found["masked"] < 0.35 * 1200
    assert 0 < found["loss"] < 1 and 0.5 < found["accuracy"] <= 1
    assert found["perplexity"] == pytest.approx(math.exp(found["loss"]))
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(run), "--data", str(run.parent / "text.txt"), "--by-order"])
    said = capsys.readouterr().err
    assert end.value.code == 2 and "masked language model" in said and len(said.splitlines()) == 1


def test_training_and_evaluating_on_the_same_text_agree(run, tmp_path):
    """The validation loss of training and the measures of a finished run are of one kind."""
    report = chainrule.train("transformer", run.parent / "text.txt", tmp_path / "run", valid=run.parent / "text.txt",
                             overrides=[*SMALL, "training.budget.steps=40"])
    assert report["last"]["accuracy"] == pytest.approx(report["valid"]["accuracy"], abs=0.15)
    assert report["last"]["loss"] == pytest.approx(report["valid"]["loss"], abs=0.5)


def test_a_recurrence_reads_both_ways_too_but_carries_nothing_on(run, tmp_path):
    text, own = run.parent / "text.txt", [each for each in SMALL if "model.s." not in each]
    recurrent = [*own, "model.pattern=r", "training.budget.steps=150"]
    with pytest.raises(UsageError, match="training.reading = 'contiguous', expected 'windows' for .* both ways"):
        chainrule.train("lstm", text, tmp_path / "refused", overrides=[*recurrent, "training.reading=contiguous"])
    assert not (tmp_path / "refused").exists()
    chainrule.train("lstm", text, tmp_path / "run", overrides=[*recurrent, "training.reading=windows"])
    assert chainrule.load(tmp_path / "run").model.fill("the [MASK] sat")[0][0][0] == "cat"


def test_a_language_model_has_no_gaps_to_fill(run, tmp_path, capsys):
    chainrule.train("ngram", run.parent / "text.txt", tmp_path / "ngram", overrides=["model.order=2"])
    capsys.readouterr()
    for words in (["fill", str(tmp_path / "ngram"), "the [MASK]"], ["generate", str(run), "--prompt", "the"]):
        with pytest.raises(SystemExit) as end:
            main(words)
        said = capsys.readouterr().err
        assert end.value.code == 2 and len(said.splitlines()) == 1 and "masked language model" in said


def test_whole_words_are_hidden_or_not_at_all(tmp_path):
    (tmp_path / "a.txt").write_text("the remarkable cows were grazing in meadows\n" * 30)
    from chainrule.recipe.registry import build
    from chainrule.tasks._hiding import whole_words, word_beginnings
    from chainrule.text.corpora import open_corpus
    from chainrule.text.options import TextOptions

    tokenizer = build("text/tokenizers", {"name": "byte_pair", "size": 270}).train(open_corpus(tmp_path / "a.txt"),
                                                                                  TextOptions())
    text = tokenizer.encode("the remarkable cows were grazing").astype(np.int64)[None].repeat(200, 0)
    found = whole_words(text, np.ones_like(text, bool), 0.3, np.random.default_rng(0),
                        begins=word_beginnings(tokenizer))
    spelled, at = [tokenizer.decode(text[0, [n]]) for n in range(text.shape[1])], 0
    for word in ["the", "remarkable", "cows", "were", "grazing"]:
        own = []
        while "".join(own).strip() != word:
            own.append(spelled[at + len(own)])
        inside = found[:, at:at + len(own)]
        assert (inside.all(1) == inside.any(1)).all() and 0.15 < inside.all(1).mean() < 0.45, word
        at += len(own)
    assert at == text.shape[1]


def test_spans_hide_the_asked_share_in_stretches():
    from chainrule.tasks._hiding import spans

    able = np.ones((50, 100), bool)
    able[:, ::10] = False
    found = spans(np.zeros((50, 100)), able, 0.2, np.random.default_rng(0))
    assert not found[~able].any() and (found.sum(1) == 18).all()
    runs = np.diff(np.pad(found, ((0, 0), (1, 1))).astype(int), axis=1)
    assert 1.7 < found.sum() / (runs == 1).sum() < 4, "mean length of a stretch"


@pytest.mark.parametrize("hidden", ["words", "spans"])
def test_words_and_spans_can_be_learned(hidden, tmp_path):
    lines = "".join(f"the {noun} {verb}\n" for noun, verb in PAIRS * 20)
    (tmp_path / "a.txt").write_text(lines)
    chainrule.train("transformer", tmp_path / "a.txt", tmp_path / "run", overrides=[
        *SMALL, f"task.hidden={hidden}", "training.budget.steps=40"])
    assert chainrule.evaluate(tmp_path / "run", tmp_path / "a.txt")["masked"] > 0


def test_the_pseudo_log_likelihood_hides_each_token_once(tmp_path):
    order = np.random.default_rng(0).integers(0, len(PAIRS), 400)
    (tmp_path / "a.txt").write_text("".join("the {} {}\n".format(*PAIRS[n]) for n in order))
    chainrule.train("transformer", tmp_path / "a.txt", tmp_path / "run", overrides=SMALL)
    run = chainrule.load(tmp_path / "run")
    good, bad = chainrule.score(run, ["the cat sat", "the cat sang"])
    assert good > bad
    ids = run.tokenizer.encode("the cat sat").astype(np.int64)
    expected = 0.0
    for place, id in enumerate(ids):
        whole = np.concatenate([[run.tokenizer.end], ids, [run.tokenizer.end]])
        whole[1 + place] = run.model.mask
        with torch.no_grad():
            vectors, _ = run.model.stack(torch.from_numpy(whole[None]))
            never = (run.model.mask, run.tokenizer.start, run.tokenizer.end)
            expected += float(run.model.stack.head.log_probs(vectors[0, 1 + place], never)[id])
    assert good == pytest.approx(expected, abs=1e-4)
    long = chainrule.score(run, ["the cat sat " * 9])[0]
    assert np.isfinite(long) and long < good


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("compared") / "text.txt"
    path.write_text("".join(f"the {noun} {verb} .\n" for noun, verb in PAIRS) * 30)
    return path


FEW = ["tokenizer=words", "model.width=8", "model.context=10", "training.budget.steps=2", "training.device=cpu"]


def contest_of(text, *changes, name="bert-small"):
    recipe = load_recipe(name, [*FEW, *changes])
    return build("tasks", recipe.task).contest(recipe, [str(text)], [str(text)], fraction=0.1, seed=0)


@pytest.mark.parametrize(("name", "changes"), [
    ("bert-small", ["model.pattern=sf", "model.s.heads=1"]),
    ("t5-small", ["model.pattern=sxf", "model.s.heads=1", "model.x.heads=1", "model.source.pattern=sf"])])
def test_compare_ranks_by_the_same_hidden_tokens_for_all(name, changes, text, tmp_path):
    chainrule.train(name, text, tmp_path / "run", overrides=[*FEW, *changes])
    run, found = chainrule.load(tmp_path / "run"), contest_of(text, *changes, name=name)
    answers = found.answers(run)
    [(rule, simple)] = found.baselines().items()
    assert rule == "frequencies of tokens" and found.units == "windows"
    np.testing.assert_array_equal(answers.table[:, 1], simple.table[:, 1])
    np.testing.assert_array_equal(found.answers(run).table, answers.table)
    assert "only compare models with the same tokenizer" in found.notes[0]
    if name == "t5-small":  # which evaluate cuts in the same way
        measured = chainrule.evaluate(run, text)
        assert found.measure.value(answers.table) == pytest.approx(measured["loss"])
        assert answers.beside["accuracy"] == pytest.approx(measured["accuracy"])


def test_the_baseline_is_how_often_tokens_are_hidden(text):
    found = contest_of(text)
    [simple] = found.baselines().values()
    wanted = [each[each != IGNORED] for batch in found._batches(found._held.ids) for each in batch.targets]
    wanted = [each for each in wanted if len(each)]  # windows with something to guess
    counts = np.bincount(np.concatenate(wanted), minlength=found._learned[0].vocabulary_size + 1) + 1
    nats = [-np.log(counts / counts.sum())[row].sum() for row in wanted]
    np.testing.assert_allclose(simple.table, np.stack([nats, [len(row) for row in wanted]], axis=1))


def test_a_run_with_other_tokens_is_not_ranked(text, tmp_path):
    chainrule.train("bert-small", text, tmp_path / "run", overrides=[*FEW, "tokenizer=bytes", "model.pattern=sf",
                                                                     "model.s.heads=1"])
    with pytest.raises(DataError, match="only models with the same tokens can be compared"):
        contest_of(text).answers(chainrule.load(tmp_path / "run"))


def test_evaluate_gives_intervals_over_windows(text, tmp_path):
    chainrule.train("bert-small", text, tmp_path / "run", overrides=[*FEW, "model.pattern=sf", "model.s.heads=1"])
    found = chainrule.evaluate(tmp_path / "run", text)
    for name in ("loss", "accuracy"):
        low, high = found["interval"][name]
        assert low < found[name] < high
    assert "interval" not in chainrule.evaluate(tmp_path / "run", text, bootstrap=0)


def test_white_space_is_itself_in_json_and_in_quotes_on_the_terminal(text, tmp_path, capsys):
    chainrule.train("bert-small", text, tmp_path / "run", overrides=[
        "tokenizer=characters", *FEW[1:], "model.pattern=sf", "model.s.heads=1"])
    capsys.readouterr()
    words = ["fill", str(tmp_path / "run"), "the c[MASK]t", "--top", "100"]
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    tokens = {each["token"] for each in json.loads(capsys.readouterr().out)["gaps"][0]}
    assert " " in tokens and "' '" not in tokens
    with pytest.raises(SystemExit):
        main(words)
    assert "  ' '\n" in capsys.readouterr().out
