"""A translator of a small language: learned word for word, used from Python and from the command line."""

import json
import subprocess

import numpy as np
import pytest
import warm_python

import chainrule
from chainrule.errors import OptionError, UsageError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
WORDS = {"the": "le", "cat": "chat", "dog": "chien", "sees": "voit", "eats": "mange", "bird": "oiseau", "big": "grand"}
QUICK = ["tokenizer=words", "task.vocabulary=separate", "model.source.shared_embedding=false", "model.width=32",
         "model.head=untied", "model.context=32", "training.batch_tokens=600", "training.budget.steps=150",
         "training.optimizer.rate=0.02", "model.dropout.rate=0.0", "training.evaluate_every=75",
         "model.source.embedding.deviation=0.5", "model.embedding.deviation=0.5"]


def sentences(count, seed):
    draw = np.random.default_rng(seed)
    for _ in range(count):
        yield draw.choice(list(WORDS), size=draw.integers(1, 6)).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translate")
    for name, count in (("train", 300), ("test", 20)):
        own = list(sentences(count, len(name)))
        (folder / f"{name}.en").write_text("".join(" ".join(words) + "\n" for words in own))
        (folder / f"{name}.fr").write_text("".join(" ".join(WORDS[word] for word in words) + "\n" for words in own))
    chainrule.train("attention-rnn", folder / "train.en", folder / "run", target=folder / "train.fr",
                    valid=folder / "test.en", valid_target=folder / "test.fr", overrides=QUICK)
    return folder


def test_it_has_learned_the_small_language(folder):
    found = chainrule.evaluate(folder / "run", folder / "test.en", target=folder / "test.fr", bootstrap=100)
    assert found["bleu"] > 90 and found["chrf"] > 90 and found["signature"].startswith("nrefs:1|bs:100|")
    assert found["sentences"] == found["references"] == 20
    assert sum(row["sentences"] for row in found["by_length"]) == found["sentences"]
    low, high = found["interval"]["bleu"]
    assert low <= found["bleu"] + 5 and high <= 100.1


def test_several_targets_come_best_first_with_their_probabilities(folder):
    run = chainrule.load(folder / "run")
    [best] = chainrule.translate(run, ["the big cat"], beams=4, num=3)
    assert len(best) == 3 and best[0].text == "le grand chat"
    assert [each.score for each in best] == sorted((each.score for each in best), reverse=True)
    for each in best:
        assert run.model.score(["the big cat"], [each.text])[0] == pytest.approx(each.log_prob, abs=1e-4)
    [greedy] = chainrule.translate(run, ["the big cat"], beams=1)
    assert greedy[0].text == best[0].text


def test_an_alignment_says_what_each_word_looked_at(folder):
    aligned = chainrule.load(folder / "run").model.align("the dog sees", "le chien voit")
    assert aligned.source == ["<s>", "the", "dog", "sees", "</s>"] and aligned.target[-1] == "</s>"
    assert aligned.weights.shape == (4, 5) and np.allclose(aligned.weights.sum(1), 1, atol=1e-5)


def test_an_unknown_word_is_replaced_by_what_it_looked_at(folder):
    run = chainrule.load(folder / "run")
    unknown = np.array([run.tokenizer.unknown, run.tokenizer.encode("chat")[0]], np.int32)
    text = run.model._without_unknowns("Zebras sees", unknown)
    assert text.split()[0] in ("Zebras", "sees") and text.split()[1] == "chat"


def test_a_coverage_penalty_changes_only_the_order(folder):
    plain, covered = (chainrule.translate(folder / "run", ["the cat sees the dog"], beams=4, num=4,
                                          coverage_penalty=penalty)[0] for penalty in (0.0, 5.0))
    assert {each.text for each in plain} == {each.text for each in covered}
    assert all(each.score <= other.score for each in covered for other in plain if each.text == other.text)


def test_lines_of_standard_input_stay_lines(folder):
    done = subprocess.run([warm_python.chainrule(), "translate", "run"], cwd=folder, text=True,
                          input="the cat\n\nthe dog eats\n", capture_output=True)
    assert (done.returncode, done.stdout) == (0, "le chat\n\nle chien mange\n"), done.stderr


def test_json_has_scores_and_alignments(folder):
    done = subprocess.run([warm_python.chainrule(), "translate", "run", "the cat", "--num", "2", "--beams",
                           "3", "--alignments", "--json"], cwd=folder, text=True, capture_output=True)
    [row] = json.loads(done.stdout)["sources"]
    assert row["source"] == "the cat" and len(row["targets"]) == 2
    assert row["targets"][0]["alignment"]["target"] == ["le", "chat", "</s>"]
    assert row["targets"][0]["score"] >= row["targets"][1]["score"]


def test_mistakes_are_one_line(folder):
    with pytest.raises(UsageError, match=r"translate takes a list of texts, not one text"):
        chainrule.translate(folder / "run", "the cat")
    with pytest.raises(OptionError, match="beams = 0, expected at least 1"):
        chainrule.translate(folder / "run", ["the cat"], beams=0)
    with pytest.raises(UsageError, match="holds a translator; generate needs a language model"):
        chainrule.generate(folder / "run", "the")
    with pytest.raises(UsageError, match=r"model.source = None, expected a stack that reads the source"):
        chainrule.train("transformer", folder / "train.en", folder / "bad", target=folder / "train.fr",
                        overrides=["task=translation", "model.pattern=sxf"])


def test_models_are_compared_by_bleu(folder, warm_trials):
    both = [f"{en}\t{fr}\n" for en, fr in zip((folder / "train.en").read_text().splitlines(),
                                              (folder / "train.fr").read_text().splitlines(), strict=True)]
    (folder / "pairs.tsv").write_text("".join(both))
    terms = chainrule.Terms(changes=[each for each in QUICK if "budget" not in each and "tokenizer" not in each])
    report = chainrule.compare(["attention-rnn", "seq2seq"], folder / "pairs.tsv", folder / "report",
                               budget="60000tokens", terms=terms)
    assert report["measure"]["label"] == "BLEU" and report["task"] == "translation"
    rows = {row["name"]: row for row in report["rows"]}
    assert set(rows) == {"attention-rnn", "seq2seq", "copy of the source"}
    assert all(0 <= row["value"] <= 100 for row in rows.values()) and rows["copy of the source"]["value"] < 1


def test_inspect_draws_the_alignment(folder):
    def ran(*words):
        return subprocess.run([warm_python.chainrule(), "inspect", "run", *words], cwd=folder, text=True,
                              capture_output=True)

    done = ran("the cat sees", "--out", "a.svg")
    assert done.returncode == 0 and "le chat voit" in done.stdout and "chat" in (folder / "a.svg").read_text()
    found = json.loads(ran("the cat sees", "--json").stdout)["sources"][0]
    assert found["target"] == "le chat voit" and len(found["alignment"]["weights"]) == 4
    assert "there is nothing to look at" in ran().stderr
    assert "expected a name that ends in" in ran("the cat", "--out", "a.gif").stderr


def test_tokens_of_an_alignment_are_named_as_a_reader_spells_them(tmp_path):
    (tmp_path / "pairs.tsv").write_text("two men\tzwei Männer\nthe men\tfür Männer\n" * 8)
    chainrule.train("attention-rnn", tmp_path / "pairs.tsv", tmp_path / "run", overrides=[
        "model.width=16", "training.budget.steps=1", "tokenizer=byte_pair", "tokenizer.size=290"])
    found = chainrule.load(tmp_path / "run").model.align("the men", "für Männer")
    assert found.source == ["⟨s⟩", "the", "men", "⟨/s⟩"]
    assert "".join(found.target) == "fürMänner⟨/s⟩"


def test_pairs_with_an_empty_side_are_left_out_aloud(tmp_path, caplog):
    caplog.set_level("INFO", "chainrule")
    (tmp_path / "a.en").write_text("two men\n\nthe men\n")
    (tmp_path / "a.de").write_text("zwei\ndrei\nvier\n")
    chainrule.train("seq2seq", tmp_path / "a.en", tmp_path / "run", target=tmp_path / "a.de", overrides=[
        "model.width=16", "training.budget.steps=1", "tokenizer=words"])
    assert f"1 pair with an empty side is left out, the first of them in {tmp_path / 'a.en'}, line 2." in caplog.text
