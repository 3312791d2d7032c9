"""chainrule tag, evaluate and inspect with taggers: what they print, and what they refuse."""

import json
import subprocess

import pytest
import warm_python
from command_line import in_this_process, refused

import chainrule
from chainrule.inputs.tagged import tagged
from chainrule.text.corpora import open_corpus

pytestmark = pytest.mark.usefixtures("one_thread")
POS = "the DET\ncow NOUN\neats VERB\nhay NOUN\n. PUNCT\n\nthe DET\nhen NOUN\nsings VERB\n. PUNCT\n\n" * 10
NAMES = "Ada B-PER\nMccow I-PER\nsings O\n\nthe O\nhen O\nsees O\nAda B-PER\n\n" * 10
SMALL = ["model.width=16", "model.embedding.word_width=8", "model.embedding.filters=8", "training.batch=4",
         "training.optimizer.rate=0.01", "training.budget.epochs=4", "training.device=cpu"]
TREEBANK = "# sent_id = 1\n1\tthe\tthe\t_\tDT\t_\t2\tdet\t_\t_\n2\tcow\tcow\t_\tNN\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tag")
    for name, text, head in (("pos", POS, "untied"), ("names", NAMES, "crf")):
        (folder / f"{name}.tsv").write_text(text)
        chainrule.train("tagger", folder / f"{name}.tsv", folder / name, overrides=[*SMALL, f"model.head={head}"])
    return folder


@pytest.fixture
def run(capfd):
    return in_this_process(capfd)


def test_texts_become_columns_with_an_empty_line_after_each_sentence(folder, run):
    done = run("tag", folder / "pos", "the cow eats hay.", "the hen sings")
    assert (done.code, done.err) == (0, "")
    assert done.out == "the\tDET\ncow\tNOUN\neats\tVERB\nhay\tNOUN\n.\tPUNCT\n\nthe\tDET\nhen\tNOUN\nsings\tVERB\n\n"


def test_what_is_printed_is_a_tagged_file(folder, run, tmp_path):
    (tmp_path / "texts.txt").write_text("the cow eats hay .\nthe hen sings .\n")
    done = run("tag", folder / "pos", tmp_path / "texts.txt", "--spaces")
    (tmp_path / "out.tsv").write_text(done.out)
    assert [each.words for each in tagged(open_corpus(tmp_path / "out.tsv"), "auto")] == [
        ("the", "cow", "eats", "hay", "."), ("the", "hen", "sings", ".")]
    assert run("evaluate", folder / "pos", "--data", tmp_path / "out.tsv", "--json").code == 0


def test_tags_may_stand_behind_words(folder, run):
    assert run("tag", folder / "pos", "the cow sings", "--as", "inline").out == "the/DET cow/NOUN sings/VERB\n"


def test_of_a_treebank_all_but_the_tags_is_kept(folder, run, tmp_path):
    (tmp_path / "a.conllu").write_text(TREEBANK)
    done = run("tag", folder / "pos", tmp_path / "a.conllu", "--as", "conllu")
    assert done.out == TREEBANK.replace("the\t_\tDT", "the\tDET\tDT").replace("cow\t_\tNN", "cow\tNOUN\tNN")


def test_files_of_columns_are_tagged_anew(folder, run, tmp_path):
    (tmp_path / "a.tsv").write_text("the\tX\ncow\tX\n\nhay\tX\n")
    assert run("tag", folder / "pos", tmp_path / "a.tsv").out == "the\tDET\ncow\tNOUN\n\nhay\tNOUN\n\n"
    (tmp_path / "b.txt").write_text("the\ncow\n")
    assert run("tag", folder / "pos", tmp_path / "b.txt", "--format", "columns").out == "the\tDET\ncow\tNOUN\n\n"


def test_standard_input_is_tagged_line_by_line(folder):
    done = subprocess.run([warm_python.chainrule(), "tag", str(folder / "pos"), "--as", "inline"],
                          input="the cow eats\n\nthe hen\n", text=True, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the/DET cow/NOUN eats/VERB\n\nthe/DET hen/NOUN\n"


def test_json_has_probabilities_and_entities(folder, run):
    found = json.loads(run("tag", folder / "names", "Ada Mccow sees the hen", "--json").out)
    [own] = found["sentences"]
    assert own["words"] == ["Ada", "Mccow", "sees", "the", "hen"] and own["tags"][:2] == ["B-PER", "I-PER"]
    assert all(0.3 < p <= 1.0001 for p in own["probabilities"])
    assert own["entities"] == [{"type": "PER", "begin": 0, "end": 2, "text": "Ada Mccow"}]


def test_evaluate_prints_tables_by_tag_and_by_type(folder, run):
    done = run("evaluate", folder / "names", "--data", folder / "names.tsv")
    assert done.code == 0
    for words in ("f1", "accuracy of unknown words", "type", "PER", "tag", "B-PER", "support"):
        assert words in done.out, done.out
    found = json.loads(run("evaluate", folder / "pos", "--data", folder / "pos.tsv", "--json").out)
    assert found["accuracy"] == 1.0 and found["per_tag"]["DET"]["support"] == 20


def test_inspect_shows_rivals_transitions_and_confusions(folder, run, tmp_path):
    done = run("inspect", folder / "names", "Ada sees zebus", "--data", folder / "names.tsv", "--out",
               tmp_path / "a.svg")
    assert done.code == 0 and (tmp_path / "a.svg").read_text().startswith("<svg")
    for words in ("unknown word", "Transitions", "I-PER", "words right"):
        assert words in done.out, done.out
    found = json.loads(run("inspect", folder / "names", "Ada sees", "--json").out)
    [own] = found["sentences"]
    assert own["words"][0]["tag"] == "B-PER" and own["words"][0]["known"] and len(found["transitions"]) == 3
    assert sum(own["probabilities"][0]) == pytest.approx(1, abs=1e-3) and "labeled" not in found


@pytest.mark.parametrize("command, code, words", [
    (["tag", "RUN", ""], 2, ["an empty text, expected some words"]),
    (["tag", "RUN", "nothing.conllu"], 1, ["nothing.conllu", "No such file"]),
    (["tag", "RUN", "the cow", "--format", "conllu"], 2, ["--format conllu is of a file"]),
    (["tag", "NAMES", "the cow", "--as", "conllu"], 2, ["tags of entities have no column in CoNLL-U"]),
    (["inspect", "RUN"], 2, ["there is nothing to look at. Give a text"]),
    (["inspect", "RUN", "the cow", "--tokens", "3"], 2, ["--tokens = 3 does nothing with a tagger"]),
    (["predict", "RUN", "the cow"], 2, ["holds a tagger; predict needs a classifier"]),
    (["generate", "RUN"], 2, ["holds a tagger; generate needs a language model"]),
    (["evaluate", "RUN", "--data", "ragged.txt"], 1, ["ragged.txt: line 2: 1 column, expected 2"])])
def test_what_cannot_be_done_is_one_line(folder, run, monkeypatch, command, code, words):
    monkeypatch.chdir(folder)
    (folder / "ragged.txt").write_text("the DET\ncow\n")
    names = {"RUN": "pos", "NAMES": "names"}
    refused(run(*(names.get(word, word) for word in command)), code, *words)


def test_other_runs_are_no_taggers(run, tmp_path):
    (tmp_path / "a.txt").write_text("the cow\n" * 5)
    how = ["model.order=2", "model.smoothing=additive"]
    chainrule.train("ngram", tmp_path / "a.txt", tmp_path / "lm", overrides=how)
    refused(run("tag", tmp_path / "lm", "the cow"), 2, "holds a language model; tag needs a tagger")
