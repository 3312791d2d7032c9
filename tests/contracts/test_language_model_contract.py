"""Contract: every family's model reads tokens one by one as it scores them all at once, and keeps its states apart.

A new family joins by itself with its shipped recipes; a line in VARIANTS adds a variant, or a smaller model to test.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.arrays import to_numpy
from chainrule.jobs import Job
from chainrule.protocols import LanguageModel
from chainrule.recipe.recipe import described, load_recipe
from chainrule.recipe.registry import find, names
from chainrule.runs import LoadedRun, load
from chainrule.text.corpora import open_corpus
from chainrule.verbs.train import finish

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat", "naïve café — ☕",
         "a dog and a cat and a dog and a cat", "on the mat the cat sat on", "dog dog dog dog"]
SMALL = ["tokenizer=bytes", "model.width=8", "model.context=6", "training.budget.steps=3", "training.batch=4",
         "training.optimizer=adamw", "training.precision=float32"]
VARIANTS = {  # recipe and options; {other} is the folder of another variant
    "words": ("ngram", ["model.order=3"]),
    "characters": ("ngram", ["tokenizer=characters", "model.order=5"]),
    "bytes": ("ngram-bytes", []),
    "byte pairs": ("ngram-bpe", ["tokenizer.size=300"]),
    "unigram pieces": ("ngram", ["tokenizer.name=unigram", "tokenizer.size=300"]),
    "order 1": ("ngram", ["model.order=1"]),
    "compact": ("ngram", ["model.compact=true", "model.order=4"]),
    "pruned": ("ngram", ["model.prune=[0,0,1]", "model.order=4"]),
    "pruned by entropy": ("ngram", ["model.prune_entropy=1e-3", "model.order=4"]),
    "closed": ("ngram", ["model.vocabulary=closed", "model.order=3"]),
    "no smoothing": ("ngram", ["model.smoothing=maximum_likelihood", "model.order=3"]),
    "back-off": ("ngram", ["model.smoothing=good_turing", "model.order=3"]),
    "transformer": ("transformer", [*SMALL, "model.s.heads=2"]),
    "lstm": ("lstm", SMALL),
    "sliding window": ("transformer", [*SMALL, "model.s.heads=2", "model.s.attend=sliding_window",
                                       "model.s.attend.window=3"]),
    "adaptive softmax": ("lstm", [*SMALL, "model.head=adaptive"]),
    "experts": ("transformer", [*SMALL, "model.s.heads=2", "model.f=mixture_of_experts", "model.f.experts=3"]),
    "shared weights": ("transformer", [*SMALL, "model.s.heads=2", "model.pattern=[sf]*3"]),
    "hybrid": ("transformer", [*SMALL, "model.pattern=(rsf)*2", "model.s.heads=2"]),
    "engine-mlp": ("engine-mlp", SMALL),
    "engine-nnlm": ("engine-nnlm", [*SMALL, "model.wiring=residual"]),
    "engine-rnn": ("engine-rnn", SMALL),
    "engine-lstm": ("engine-lstm", SMALL),
    "engine-transformer": ("engine-transformer", [*SMALL, "model.s.heads=2"]),
    "mixture": ("mixture", ["model.members=[{words},{order 1},{pruned}]"]),
}
COVERED = {load_recipe(recipe).family for recipe, _ in VARIANTS.values()}
OTHERS = {"vectors", "text_classifier", "hidden_markov"}  # families of models that predict no next token
RUNS = VARIANTS | {name: (name, []) for name, facts in described().items() if facts["family"] not in COVERED | OTHERS}
NEAR_ONE = {"compact": 1e-4}  # 16 bits a number are less exact than the others' 1e-6
quick = settings(deadline=None, max_examples=20)
numbers = st.integers(0, 10**6)
lines = st.lists(st.lists(numbers, min_size=1, max_size=9), min_size=1, max_size=5)


@dataclass(frozen=True)
class Subject:
    """A model as it came out of training, and as it was loaded from its run."""

    name: str
    trained: LanguageModel[Any]
    run: LoadedRun

    @property
    def model(self):
        return self.run.model

    def row(self, numbers):
        """Any numbers as tokens that a text can have: neither <s> nor </s>."""
        tokenizer = self.run.tokenizer
        usual = [id for id in range(tokenizer.vocabulary_size) if id not in (tokenizer.start, tokenizer.end)]
        return np.array([usual[number % len(usual)] for number in numbers])

    def states(self, rows):
        """The state of a batch of one row a text, all of the same length."""
        state = self.model.start(len(rows))
        for column in np.array(rows).T:
            state = self.model.advance(state, column)
        return state


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A subject by its name, trained when first asked for."""
    folder, subjects = tmp_path_factory.mktemp("runs"), {}
    (folder / "text.txt").write_text("\n".join(LINES * 5) + "\n", encoding="utf-8")

    def make(name):
        if name in subjects:
            return subjects[name]
        recipe_name, options = RUNS[name]
        for other in [other for other in RUNS if any(f"{{{other}}}" in option for option in options)]:
            options = [option.replace(f"{{{other}}}", str(make(other).run.path)) for option in options]
        recipe = load_recipe(recipe_name, options)
        job = Job(recipe, open_corpus(folder / "text.txt", recipe.text), None, folder)
        trained = find("families", recipe.family).train(job)
        finish(job, trained, folder / name, force=False)
        subjects[name] = Subject(name, trained.model, load(folder / name))
        return subjects[name]
    return make


@pytest.fixture(scope="module", params=RUNS)
def subject(request, made):
    return made(request.param)


def log_probs(model, state):
    return to_numpy(model.log_probs(state))


def scores(model, ids):
    return to_numpy(model.score(np.asarray(ids)))


def stepped(model, row):
    """ln p of each token from the whole distribution, before the token is read."""
    state, found = model.start(1), []
    for id in row:
        found.append(log_probs(model, state)[0, id])
        state = model.advance(state, np.array([id]))
    return np.array(found)


def test_every_family_is_tried():
    assert {load_recipe(recipe).family for recipe, _ in RUNS.values()} == set(names("families")) - OTHERS


def test_a_model_is_what_the_protocol_says(subject):
    assert isinstance(subject.model, LanguageModel)
    assert subject.model.vocabulary_size == subject.run.tokenizer.vocabulary_size
    for rows in (0, 1, 3):
        assert log_probs(subject.model, subject.model.start(rows)).shape == (rows, subject.model.vocabulary_size)


@quick
@given(numbers=st.lists(numbers, min_size=1, max_size=12))
def test_one_by_one_equals_all_at_once(subject, numbers):
    row = subject.row(numbers)
    np.testing.assert_allclose(stepped(subject.model, row), scores(subject.model, row[None])[0], rtol=1e-5, atol=1e-5)


@quick
@given(texts=lines)
def test_rows_of_different_lengths_do_not_disturb_each_other(subject, texts):
    rows = [subject.row(text) for text in texts]
    padded = np.full((len(rows), max(map(len, rows))), subject.run.tokenizer.end)
    for b, row in enumerate(rows):
        padded[b, : len(row)] = row
    together = scores(subject.model, padded)
    for b, row in enumerate(rows):
        np.testing.assert_allclose(together[b, : len(row)], scores(subject.model, row[None])[0], rtol=1e-5, atol=1e-6)


@quick
@given(numbers=st.lists(numbers, min_size=2, max_size=10), position=numbers, other=numbers)
def test_what_follows_a_token_never_changes_its_score(subject, numbers, position, other):
    row = subject.row(numbers)
    position = 1 + position % (len(row) - 1)
    changed = row.copy()
    changed[position] = subject.row([other])[0]
    before, after = scores(subject.model, np.stack([row, changed]))
    np.testing.assert_allclose(after[:position], before[:position], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scores(subject.model, row[None, :position])[0], before[:position], rtol=1e-6, atol=1e-6)


@quick
@given(numbers=st.lists(numbers, max_size=8))
def test_probabilities_sum_to_one_and_the_start_mark_has_none(subject, numbers):
    row = log_probs(subject.model, subject.states([subject.row(numbers)]))[0]
    assert np.exp(row.astype(np.float64)).sum() == pytest.approx(1, abs=NEAR_ONE.get(subject.name, 1e-6))
    assert row[subject.run.tokenizer.start] == -np.inf


@quick
@given(numbers=st.lists(numbers, min_size=1, max_size=8), next=numbers)
def test_looking_never_changes_the_state(subject, numbers, next):
    row, id = subject.row(numbers), subject.row([next])
    seen, unseen = subject.states([row]), subject.states([row])
    first = log_probs(subject.model, seen)
    np.testing.assert_array_equal(log_probs(subject.model, seen), first)
    after, expected = (log_probs(subject.model, subject.model.advance(state, id)) for state in (seen, unseen))
    np.testing.assert_array_equal(after, expected)


@quick
@given(texts=st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=3, max_size=3), next=numbers)
def test_picked_rows_are_independent_copies(subject, texts, next):
    model = subject.model
    rows = [subject.row(text) for text in texts]
    state, order = subject.states(rows), [2, 0, 2, 1]
    whole = log_probs(model, state)
    copies, again = model.pick(state, np.array(order)), model.pick(state, np.array(order))
    np.testing.assert_allclose(log_probs(model, copies), whole[order], rtol=1e-6)
    model.advance(copies, subject.row([next, next + 1, next + 2, next + 3]))
    np.testing.assert_array_equal(log_probs(model, state), whole)
    model.advance(state, subject.row([next] * 3))
    np.testing.assert_allclose(log_probs(model, again), whole[order], rtol=1e-6)


@quick
@given(texts=lines, next=numbers)
def test_rows_that_join_go_on_as_if_alone(subject, texts, next):
    model, rows = subject.model, [subject.row(text) for text in texts]
    states = [subject.states([row]) for row in rows]
    expected = [log_probs(model, model.advance(subject.states([row]), subject.row([next]))) for row in rows]
    state = model.advance(model.join(states), subject.row([next] * len(rows)))
    np.testing.assert_allclose(log_probs(model, state), np.concatenate(expected), rtol=1e-5, atol=1e-5)


def test_a_saved_model_is_the_trained_one(subject):
    draw = np.random.default_rng(0)
    ids = np.stack([subject.row(draw.integers(0, 10**6, 20)) for _ in range(7)])
    np.testing.assert_array_equal(scores(subject.trained, ids), scores(subject.model, ids))
    state, other = subject.model.start(2), subject.trained.start(2)
    np.testing.assert_array_equal(log_probs(subject.model, state), log_probs(subject.trained, other))
