"""Tagging: small grammars are learned with every head and encoder, and what cannot be learned is named."""

import json
import random

import numpy as np
import pytest

import chainrule
from chainrule.contests import Contested
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build

pytestmark = pytest.mark.usefixtures("one_thread")
NOUNS, VERBS, NAMES = ["cow", "dog", "hen", "goat"], ["eats", "sees", "hears"], ["Ada", "Bo", "Cy"]
SMALL = ["model.width=24", "model.embedding.word_width=12", "model.embedding.character_width=8",
         "model.embedding.filters=12", "training.batch=8", "training.optimizer.rate=0.01", "model.dropout.rate=0.1",
         "training.device=cpu"]


def pos(draw):
    noun = [("the", "DET"), (draw.choice(NOUNS), "NOUN")]
    return [*noun, (draw.choice(VERBS), "VERB"), ("the", "DET"), (draw.choice(NOUNS), "NOUN"), (".", "PUNCT")]


def names(draw):
    full = [(draw.choice(NAMES), "B-PER"), (f"Mc{draw.choice(NOUNS)}", "I-PER")]
    who = full if draw.random() < 0.5 else full[:1]
    return [*who, (draw.choice(VERBS), "O"), ("a", "O"), (draw.choice(NOUNS), "O")]


def written(path, make, count, seed):
    draw = random.Random(seed)
    path.write_text("".join("".join(f"{word}\t{tag}\n" for word, tag in make(draw)) + "\n" for _ in range(count)))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tagged")
    for name, make in (("pos", pos), ("names", names)):
        for part, count, seed in (("train", 60, 0), ("test", 20, 1)):
            written(place / f"{name}.{part}.tsv", make, count, seed)
    return place


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "pos"
    chainrule.train("tagger", folder / "pos.train.tsv", out, valid=folder / "pos.test.tsv", overrides=[
        *SMALL, "training.budget.epochs=5"])
    return out


@pytest.fixture(scope="module")
def names_run(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "names"
    chainrule.train("tagger", folder / "names.train.tsv", out, valid=folder / "names.test.tsv", overrides=[
        *SMALL, "training.budget.epochs=6", "model.head=crf"])
    return out


def test_a_grammar_is_learned(run, folder):
    found = chainrule.evaluate(run, folder / "pos.test.tsv")
    assert found["accuracy"] == 1.0 and found["words"] == 120 and "f1" not in found
    assert set(found["per_tag"]) == {"DET", "NOUN", "VERB", "PUNCT"} and found["interval"]["accuracy"] == [1.0, 1.0]
    assert chainrule.load(run).report["best"]["accuracy"] == 1.0


def test_words_that_were_never_seen_are_tagged_by_their_characters_and_neighbors(run, tmp_path):
    (tmp_path / "new.txt").write_text("the DET\ncowdog NOUN\nsees VERB\nthe DET\nzebu NOUN\n. PUNCT\n")
    found = chainrule.evaluate(run, tmp_path / "new.txt")
    assert found["unknown_words"] == 2 and found["accuracy_of_unknown_words"] == 1.0


def test_entities_are_learned_by_a_chain(names_run, folder):
    found = chainrule.evaluate(names_run, folder / "names.test.tsv")
    assert found["f1"] == 1.0 == found["precision"] == found["per_type"]["PER"]["f1"]
    assert chainrule.load(names_run).report["best"]["f1"] == 1.0, "validation measures entities"


@pytest.mark.parametrize("changes", [
    ["model.pattern=(sf)*2"], ["model.embedding={name: words_by_lstm, hidden: 8}"], ["model.head=mlp"],
    ["task.scheme=bioes", "model.head=crf"], ["task.inputs.min_count=3"]])
def test_other_encoders_heads_and_schemes_are_one_option(folder, tmp_path, changes):
    small = [each for each in SMALL if not (each.startswith("model.embedding") and "embedding={" in changes[0])]
    chainrule.train("tagger", folder / "names.train.tsv", tmp_path / "run", valid=folder / "names.test.tsv",
                    overrides=[*small, "training.budget.epochs=8", *changes])
    found = chainrule.evaluate(tmp_path / "run", folder / "names.test.tsv", bootstrap=0)
    assert found["f1"] > 0.9
    given = chainrule.tag(tmp_path / "run", ["Ada Mccow sees a hen"])[0]
    last = "E-PER" if "bioes" in changes[0] else "I-PER"
    assert [tag for _, tag in given] == ["B-PER", last, "O", "O", "O"]


def test_the_same_entities_in_iob1_are_the_same_data(names_run, folder, tmp_path):
    text = (folder / "names.test.tsv").read_text().replace("B-PER", "I-PER")
    (tmp_path / "iob1.tsv").write_text(text)
    assert chainrule.evaluate(names_run, tmp_path / "iob1.tsv", bootstrap=0)["f1"] == 1.0


def test_a_run_keeps_its_tags_words_and_characters(run):
    known = json.loads((run / "known.json").read_text())
    assert known["tags"] == ["DET", "NOUN", "PUNCT", "VERB"] and "cow" in known["inputs"]["words"]
    assert not (run / "tokenizer.json").exists()


def test_vectors_of_words_that_training_never_had_help(folder, tmp_path):
    """Each noun has a vector near that of `zebu`, each verb near `moos`: only the vectors can tell these apart."""
    draw = np.random.default_rng(0)
    near = {"zebu": NOUNS, "moos": VERBS}
    lines = []
    for new, known in near.items():
        middle = draw.normal(size=8)
        lines += [f"{word} {' '.join(map(str, middle + 0.05 * draw.normal(size=8)))}" for word in (new, *known)]
    (tmp_path / "v.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.txt").write_text("".join(f"{word} {tag}\n\n" for words, tag in ((NOUNS, "NOUN"), (VERBS, "VERB"))
                                                for word in words for _ in range(4)))
    chainrule.train("tagger", tmp_path / "train.txt", tmp_path / "run", overrides=[
        *SMALL, "training.budget.epochs=6", f"task.inputs.vectors={tmp_path / 'v.txt'}"])
    (tmp_path / "v.txt").unlink()  # a run has what it needs
    p = chainrule.load(tmp_path / "run").model.probabilities([["zebu"], ["moos"]])
    assert p[0][0, 0] > 0.6 and p[1][0, 1] > 0.6
    assert chainrule.tag(tmp_path / "run", [["zebu"], ["moos"]]) == [[("zebu", "NOUN")], [("moos", "VERB")]]


def test_a_tag_that_training_never_had_counts_as_wrong(run, tmp_path):
    (tmp_path / "new.txt").write_text("the DET\ncow NOUN\nsings INTJ\n")
    found = chainrule.evaluate(run, tmp_path / "new.txt")
    assert found["accuracy"] == pytest.approx(2 / 3) and found["unseen_tags"] == 1
    assert found["per_tag"]["INTJ"]["recall"] == 0


@pytest.mark.parametrize("head", ["untied", "crf"])
def test_validation_may_have_tags_that_training_never_had(folder, tmp_path, head):
    (tmp_path / "valid.txt").write_text("the DET\ncow NOUN\nsings INTJ\n\nthe DET\n")
    report = chainrule.train("tagger", folder / "pos.train.tsv", tmp_path / "run", valid=tmp_path / "valid.txt",
                             overrides=[*SMALL, "training.budget.steps=4", f"model.head={head}"])
    assert np.isfinite(report["best"]["loss"]) and report["valid"]["unseen_tags"] == 1


def test_long_sentences_are_trained_on_and_tagged_in_pieces(folder, tmp_path, caplog):
    (tmp_path / "long.txt").write_text("the DET\ncow NOUN\n" * 10)
    chainrule.train("tagger", tmp_path / "long.txt", tmp_path / "run", overrides=[
        *SMALL, "training.budget.steps=3", "model.context=8", "model.position=learned", "model.pattern=sf"])
    assert "1 sentence is longer than model.context = 8 words, up to 20: read in pieces." in caplog.text
    assert chainrule.evaluate(tmp_path / "run", tmp_path / "long.txt", bootstrap=0)["words"] == 20


@pytest.mark.parametrize("changes, words", [
    (["model.head=ctc"], "model.head = 'ctc', expected untied, crf or another that chooses one tag for each word"),
    (["model.head=independent"], "model.head = 'independent', expected untied"),
    (["task.inputs=text"], "task.inputs = 'text', expected words"),
    (["task.scheme=bio"], "task.scheme = 'bio', expected null, since the tags mark no entities. They are DET, NOUN"),
    (["task.column=lemma"], "task.column = 'lemma', expected auto, upos, xpos, feats"),
    (["model.embedding=lookup"], "model.embedding = 'lookup', expected words_by_convolution, words_by_lstm or other")])
def test_what_cannot_be_trained_is_named(folder, tmp_path, changes, words):
    small = [each for each in SMALL if not each.startswith("model.embedding")]
    with pytest.raises((OptionError, UsageError)) as error:
        chainrule.train("tagger", folder / "pos.train.tsv", tmp_path / "run", overrides=[
            *small, "training.budget.steps=1", *changes])
    assert words in str(error.value) and not (tmp_path / "run").exists()


def test_an_empty_file_is_named(tmp_path):
    (tmp_path / "a.conllu").write_text("\n")
    with pytest.raises(DataError, match=r"a\.conllu: no tagged sentences, expected a word and its tag"):
        chainrule.train("tagger", tmp_path / "a.conllu", tmp_path / "run")


def test_pairs_are_no_data_of_a_tagger(folder, tmp_path):
    with pytest.raises(UsageError, match="a tagger is not trained on pairs"):
        chainrule.train("tagger", folder / "pos.train.tsv", tmp_path / "run", target="x.txt")


def contest(data, valid=None, changes=(), fraction=0.1):
    made = load_recipe("tagger", changes)
    task = build("tasks", made.task)
    assert isinstance(task, Contested)
    return task.contest(made, [str(data)], valid and [str(valid)], fraction=fraction, seed=0)


def test_comparing_measures_what_evaluate_does(run, names_run, folder):
    for model, name, label, key in ((run, "pos", "accuracy", "accuracy"), (names_run, "names", "F1", "f1")):
        found = contest(folder / f"{name}.train.tsv", folder / f"{name}.test.tsv")
        answers, measured = found.answers(chainrule.load(model)), chainrule.evaluate(model, folder / f"{name}.test.tsv")
        assert found.measure.label == label and found.units == "sentences" and found.split == 0
        assert found.measure.value(answers.table) == pytest.approx(measured[key])
        assert answers.beside.keys() == found.beside.keys()


def test_the_baseline_is_the_most_frequent_tag_of_each_word(tmp_path):
    (tmp_path / "train.txt").write_text("a X\nb Y\n\na X\nc Z\n\na Y\n")
    (tmp_path / "test.txt").write_text("A X\nb Y\nnew X\n\nnew Y\n")
    [(name, answers)] = contest(tmp_path / "train.txt", tmp_path / "test.txt").baselines().items()
    assert name == "most frequent tag" and answers.table.tolist() == [[3, 3], [0, 1]]
    assert answers.beside == {"unknown": 0.5}


def test_a_part_is_held_out_by_sentences(folder):
    found = contest(folder / "pos.train.tsv")
    assert found.split == 0.1 and found.facts()["train_sentences"] + found.facts()["held_out_sentences"] == 60
    assert found.notes and "held-out sentences are also in the training data, word for word." in found.notes[0]


def test_too_few_sentences_to_compare_on_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("a X\n")
    with pytest.raises(DataError, match="too few sentences to hold some out"):
        contest(tmp_path / "a.txt", fraction=0.01)
