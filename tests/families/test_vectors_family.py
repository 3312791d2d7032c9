"""Word vectors from the command's point of view: every recipe learns, runs reopen, seeds repeat, training goes on."""

import itertools
from collections import Counter

import numpy as np
import pytest
from small_text import BEASTS, TOOLS

import chainrule
from chainrule.errors import DataError, OptionError, UsageError

QUICK = ["training.threads=1", "model.dimension=16", "tokenizer.min_count=1"]
METHODS = {
    "skipgram": ["training.epochs=5", "training.sample=0"],
    "cbow": ["training.epochs=8", "training.alpha=0.05", "training.sample=0"],
    "fasttext": ["training.epochs=5", "training.sample=0", "model.method.bucket=1000"],
    "glove": ["model.window=4", "training.epochs=400", "model.method.x_max=10"],
    "ppmi": ["model.window=4"],
}


def apart(vectors):
    """How much more alike two words of one kind are than two of different kinds."""
    units = [np.stack([vectors.unit(word) for word in kind]) for kind in (BEASTS, TOOLS)]
    pairs = ~np.eye(5, dtype=bool)
    return min((each @ each.T)[pairs].mean() for each in units) - (units[0] @ units[1].T).mean()


@pytest.mark.parametrize("recipe", METHODS)
def test_a_recipe_learns_what_is_alike(recipe, kinds, tmp_path):
    report = chainrule.train(recipe, kinds, tmp_path / "run", overrides=[*QUICK, *METHODS[recipe]])
    run = chainrule.load(tmp_path / "run")
    assert report["vocabulary"] == len(run.vectors) == 22 and report["words"] == 3000 * 6
    assert report["dimension"] == run.vectors.dimension == 16
    assert apart(run.vectors) > 0.3
    assert isinstance(run.vectors.table.base, np.ndarray) and not run.vectors.table.flags.writeable  # memory-mapped
    assert run.recipe.training.threads == 1


@pytest.mark.parametrize("loss", ["hierarchical_softmax", "softmax"])
@pytest.mark.parametrize("recipe", ["skipgram", "cbow"])
def test_the_other_losses_learn_too(recipe, loss, kinds, tmp_path):
    chainrule.train(recipe, kinds, tmp_path / "run", overrides=[*QUICK, *METHODS[recipe], f"model.method.loss={loss}"])
    assert apart(chainrule.load(tmp_path / "run").vectors) > 0.1  # gensim's CBOW with a tree has 0.2 here


@pytest.mark.parametrize("recipe", ["skipgram", "cbow", "fasttext", "glove"])
def test_one_thread_and_a_seed_give_the_same_bytes(recipe, kinds, tmp_path):
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        chainrule.train(recipe, kinds, tmp_path / name, overrides=[*QUICK, "training.epochs=1", f"seed={seed}"])
    one, same, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "same", "other"))
    assert one == same and one != other


@pytest.mark.parametrize("recipe", ["skipgram", "fasttext", "glove"])
def test_many_threads_learn_as_well(recipe, kinds, tmp_path):
    chainrule.train(recipe, kinds, tmp_path / "run", overrides=[*QUICK, *METHODS[recipe], "training.threads=3"])
    assert apart(chainrule.load(tmp_path / "run").vectors) > 0.3


@pytest.mark.parametrize("recipe", ["skipgram", "cbow", "fasttext"])
def test_training_goes_on_with_new_words(recipe, kinds, tmp_path):
    how = [*QUICK, *METHODS[recipe]]
    chainrule.train(recipe, kinds, tmp_path / "first", overrides=how)
    more = tmp_path / "more.txt"
    beasts = [line for line in kinds.read_text().splitlines(keepends=True) if line.split()[1] in BEASTS]
    more.write_text("".join(beasts).replace("cat", "yak"))
    chainrule.train(recipe, more, tmp_path / "second", overrides=[*how, f"model.initial={tmp_path / 'first'}"])
    first, second = (chainrule.load(tmp_path / name).vectors for name in ("first", "second"))
    assert set(second.words) == {*first.words, "yak"} and "cat" in second
    if recipe != "fasttext":  # whose words share n-grams
        np.testing.assert_array_equal(second["pan"], first["pan"])
    assert not np.array_equal(second["dog"], first["dog"])
    assert second.similarity("yak", "dog") > second.similarity("yak", "axe")


def test_only_a_run_of_the_same_method_and_size_goes_on(kinds, tmp_path):
    chainrule.train("skipgram", kinds, tmp_path / "run", overrides=[*QUICK, "training.epochs=1"])
    start = f"model.initial={tmp_path / 'run'}"
    with pytest.raises(UsageError, match="its model.method is skipgram, expected cbow as here"):
        chainrule.train("cbow", kinds, tmp_path / "x", overrides=[*QUICK, start])
    with pytest.raises(UsageError, match="its model.dimension is 16, expected 17 as here. Try model.dimension=16"):
        chainrule.train("skipgram", kinds, tmp_path / "x", overrides=[*QUICK, start, "model.dimension=17"])
    with pytest.raises(OptionError, match="The method ppmi always starts from scratch"):
        chainrule.train("ppmi", kinds, tmp_path / "x", overrides=[*QUICK, start])


def test_words_are_kept_and_counted_however_often_training_goes_on(tmp_path):
    """Those of the first text are neither lost nor left out where the new text has them rarely."""
    texts = {"first": "the cat sat\n" * 9, "second": "the dog ran\n" * 7 + "cat sat\n", "third": "dog ran off\n" * 30}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    how = ["training.threads=1", "model.dimension=4", "training.sample=0"]
    for name, initial, least in (("first", "null", 5), ("second", "first", 5), ("third", "second", 20)):
        start = "null" if initial == "null" else tmp_path / initial
        chainrule.train("skipgram", tmp_path / f"{name}.txt", tmp_path / name, overrides=[
            *how, f"model.initial={start}", f"tokenizer.min_count={least}"])
    first, second, third = (chainrule.load(tmp_path / name).vectors for name in texts)
    assert not np.array_equal(first["sat"], second["sat"])  # once in the second text, fewer than min_count
    assert dict(zip(second.words, second.counts.tolist(), strict=True)) == {
        "the": 16, "cat": 10, "sat": 10, "dog": 7, "ran": 7}
    assert dict(zip(third.words, third.counts.tolist(), strict=True)) == {
        "dog": 37, "ran": 37, "off": 30, "the": 16, "cat": 10, "sat": 10}


def test_another_tokenizer_or_other_buckets_do_not_go_on(kinds, tmp_path):
    how = [*QUICK, "training.epochs=1", "model.method.bucket=100"]
    chainrule.train("fasttext", kinds, tmp_path / "run", overrides=how)
    start = f"model.initial={tmp_path / 'run'}"
    with pytest.raises(UsageError, match="tokenizer.name = 'characters', expected 'plain_words' as in the run"):
        chainrule.train("fasttext", kinds, tmp_path / "x", overrides=[*how, start, "tokenizer.name=characters"])
    with pytest.raises(UsageError, match="its model.method.bucket is 100, expected 200 as here"):
        chainrule.train("fasttext", kinds, tmp_path / "x", overrides=[*how, start, "model.method.bucket=200"])


def test_more_numbers_than_the_machine_has_memory_for_are_refused(kinds, tmp_path):
    with pytest.raises(OptionError, match=r"model.dimension = 10{12}, expected at most [\d,]+ for 22 words. This"):
        chainrule.train("cbow", kinds, tmp_path / "run", overrides=[*QUICK, "model.dimension=1000000000000"])


def test_diverged_vectors_are_not_saved(kinds, tmp_path):
    with pytest.raises(OptionError, match="training.alpha = 1e.30, expected a smaller learning rate"):
        chainrule.train("skipgram", kinds, tmp_path / "run", overrides=[*QUICK, "training.alpha=1e30"])
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="training.alpha = inf, expected a finite number"):
        chainrule.train("skipgram", kinds, tmp_path / "run", overrides=[*QUICK, "training.alpha=.inf"])


@pytest.mark.parametrize("text, change, words", [
    ("", "tokenizer.min_count=1", "there is no text in it"),
    ("cat\n" * 20, "tokenizer.min_count=1", "1 different word occurs often enough, .* Try more text."),
    ("a cat sat here\n", "tokenizer.min_count=2", "min_count asks. Try tokenizer.min_count=1, or more text."),
])
@pytest.mark.parametrize("recipe", ["skipgram", "glove", "ppmi"])
def test_a_text_without_enough_words_is_one_clear_error(recipe, text, change, words, tmp_path):
    (tmp_path / "text.txt").write_text(text)
    with pytest.raises(DataError, match=words):
        chainrule.train(recipe, tmp_path / "text.txt", tmp_path / "run", overrides=[change])
    assert not (tmp_path / "run").exists()


def test_options_that_a_method_lacks_are_refused(kinds, tmp_path):
    with pytest.raises(OptionError, match="training.alpha = 0.1, expected null. The method ppmi has no such option"):
        chainrule.train("ppmi", kinds, tmp_path / "run", overrides=["training.alpha=0.1"])
    with pytest.raises(OptionError, match="training.min_alpha = 0.5, expected at most training.alpha, 0.025"):
        chainrule.train("skipgram", kinds, tmp_path / "run", overrides=["training.min_alpha=0.5"])
    with pytest.raises(UsageError, match="word vectors are not measured on a text"):
        chainrule.train("skipgram", kinds, tmp_path / "run", overrides=["split.valid=0.1"])


@pytest.mark.parametrize("recipe, change, words", [
    ("fasttext", "model.method.bucket=99999999999", "expected at least 1 and at most 2,147,483,647"),
    ("cbow", "model.method.ns_exponent=100", "ns_exponent = 100.0, expected -10 to 10"),
    ("skipgram", "training.sample=1e-30", "sample = 1e-30, expected more, or 0.*none of the 18,000 words is left"),
    ("ppmi", "model.method.shift=1e9", "shift = 1000000000.0, expected less, or more text. No pair of words co-occurs"),
])
def test_options_that_would_leave_nothing_to_learn_are_refused(recipe, change, words, kinds, tmp_path):
    with pytest.raises(OptionError, match=words):
        chainrule.train(recipe, kinds, tmp_path / "run", overrides=[*QUICK, change])
    assert not (tmp_path / "run").exists()


def test_a_sample_that_leaves_few_words_is_reported(kinds, tmp_path, caplog):
    for change in ("training.sample=1e-5", "training.sample=0"):
        chainrule.train("skipgram", kinds, tmp_path / change, overrides=[*QUICK, "training.epochs=1", change])
    counts = np.array(list(Counter(kinds.read_text().split()).values()))
    kept = (np.sqrt(1e-5 * 18_000 * counts) + 1e-5 * 18_000).sum()  # c (√(t/f) + t/f), f = c / 18,000
    assert [record.message.split(" in each")[0] for record in caplog.records if record.name == "chainrule"] == [
        f"training.sample = 1e-05 leaves about {kept:.0f} of the 18,000 words"]


def test_verbs_of_language_models_say_what_the_run_holds(kinds, tmp_path):
    chainrule.train("skipgram", kinds, tmp_path / "run", overrides=[*QUICK, "training.epochs=1"])
    with pytest.raises(UsageError, match="run holds word vectors; generate needs a language model"):
        chainrule.generate(tmp_path / "run")
    with pytest.raises(UsageError, match="run holds word vectors; score needs a language model"):
        chainrule.score(tmp_path / "run", ["the cat"])
    with pytest.raises(UsageError, match="run holds word vectors; --by-order needs a language model"):
        chainrule.evaluate(tmp_path / "run", kinds, by_order=True)
    chainrule.train("ngram", kinds, tmp_path / "ngram", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="ngram holds a language model; this needs word vectors"):
        assert chainrule.load(tmp_path / "ngram").vectors


def test_phrases_are_joined_before_training(tmp_path):
    """As the formula has it, computed here from the lines; of overlapping pairs the first is joined."""
    text = "we live in new york now\nthey like old york and new things\n" * 50 + "a new day in an old town\n" * 100
    (tmp_path / "text.txt").write_text(text)
    words = Counter(text.split())
    pairs = Counter(pair for line in text.splitlines() for pair in itertools.pairwise(line.split()))
    score = {(a, b): (n - 5) / (words[a] * words[b]) * words.total() for (a, b), n in pairs.items()}
    assert score["we", "live"] > 8 > score["new", "york"] > score["in", "new"]
    chainrule.train("skipgram", tmp_path / "text.txt", tmp_path / "run", overrides=[
        *QUICK, "training.epochs=1", "model.phrases.passes=1", "model.phrases.threshold=8"])
    joined = set(chainrule.load(tmp_path / "run").vectors.words)
    above = {f"{a}_{b}" for (a, b), each in score.items() if each > 8}
    assert {word for word in joined if "_" in word} <= above
    assert {"we_live", "they_like"} <= joined and "live" not in joined and "new" in joined


def test_any_tokens_can_have_vectors(kinds, tmp_path):
    """Byte pairs as well as words."""
    chainrule.train("skipgram", kinds, tmp_path / "run", overrides=[
        "training.threads=1", "training.epochs=1", "tokenizer.name=byte_pair", "tokenizer.size=300"])
    assert len(chainrule.load(tmp_path / "run").vectors) > 250
