"""Runs and model files that are missing, damaged, cut or asked for the impossible: one clear line, no half answers."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import in_this_process, refused

from chainrule.cli.app import main
from chainrule.verbs.train import train

pytestmark = pytest.mark.filterwarnings("error")  # a process would print them beside the one line
ROOT = Path(__file__).parents[2]
LINES = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\nthe mat sat\n"
USES = {"evaluate": ["evaluate", "RUN", "--data", "text.txt"], "generate": ["generate", "RUN", "--prompt", "the"],
        "score": ["score", "RUN", "text.txt"], "export": ["export", "RUN", "--to", "arpa", "x.arpa"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of words, one of bytes, a mixture, and an ARPA file."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text.txt").write_text(LINES * 10)
    for name, options in {"words": [], "low": ["model.order=1"], "bytes": ["tokenizer=bytes"]}.items():
        train("ngram", folder / "text.txt", folder / name, overrides=["model.order=3", *options])
    members = f"model.members=[{folder / 'words'},{folder / 'low'}]"
    train("mixture", folder / "text.txt", folder / "mixture", overrides=[members])
    with pytest.raises(SystemExit):
        main(["export", str(folder / "words"), "--to", "arpa", str(folder / "x.arpa")])
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A folder of one's own with copies of all that."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    (tmp_path / "x.arpa").rename(tmp_path / "model.arpa")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def chainrule(place, capfd):
    """The command line in this process."""
    return in_this_process(capfd)


@pytest.mark.parametrize("use", USES)
def test_a_path_that_is_no_run_is_refused(chainrule, place, use):
    def using(run):
        return [run if word == "RUN" else word for word in USES[use]]
    refused(chainrule(*using("word")), 1, "word: no such run folder. Did you mean 'words'?")
    refused(chainrule(*using("text.txt")), 1, "text.txt: a file, expected a run folder.")
    refused(chainrule(*using(".")), 1, "no MANIFEST.json: this is not a run folder, or its saving was cut short.")
    refused(chainrule(*using("word"), "--json"), 1, "word: no such run folder.")
    assert not Path("x.arpa").exists()


@pytest.mark.parametrize("run", ["words", "bytes", "mixture"])
def test_one_flipped_bit_in_any_file_is_refused_and_the_file_named(chainrule, place, run):
    chance = random.Random(run)
    files = [path for path in sorted(Path(run).rglob("*")) if path.is_file()]
    assert len(files) >= 8
    for path in files:
        whole = path.read_bytes()
        flipped = bytearray(whole or b"\0")
        if whole:
            flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        for use in USES.values():
            done = chainrule(*(run if word == "RUN" else word for word in use))
            refused(done, 1, f"{path}: ", "the file was changed or damaged. Restore it from a copy, or train again.")
        found = chainrule("verify", run)
        assert found.code == 1 and f"chainrule: {path}: " in found.err
        path.write_bytes(whole)
    assert chainrule("verify", run).code == 0


@pytest.mark.parametrize("run", ["words", "mixture"])
def test_a_missing_file_of_a_run_is_named(chainrule, place, run):
    for path in [path for path in sorted(Path(run).rglob("*")) if path.is_file()]:
        path.rename("aside")
        refused(chainrule("evaluate", run, "--data", "text.txt"), 1, f"{path.parent}", path.name)
        Path("aside").rename(path)


def test_one_flipped_bit_is_refused_in_a_process_of_its_own_too(place):
    path = place / "words" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    done = subprocess.run([sys.executable, "-m", "chainrule", "generate", "words"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600)
    refused(SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr), 1, "words/model.safetensors: SHA")


@pytest.mark.parametrize(("data", "words"), [
    (b"", "no text in it"), (b" \n\n", "no text in it, only white space"), (b"\xff\xfet\0h\0e\0", "UTF-16LE"),
    (bytes(range(256)) * 9, "looks binary"), (b"the caf\xe9\n", "line 1, byte 7: 0xe9 is not UTF-8")])
def test_data_that_cannot_be_read_is_refused(chainrule, place, data, words):
    (place / "bad.txt").write_bytes(data)
    for more in ([], ["--json"]):
        refused(chainrule("evaluate", "words", "--data", "bad.txt", *more), 1, "bad.txt: ", words)


def test_data_without_a_known_word_is_measured(chainrule, place):
    (place / "new.txt").write_text("quick brown\nfoxes\n")
    found = json.loads(chainrule("evaluate", "words", "--data", "new.txt", "--json").out)
    assert (found["tokens"], found["unknown"], found["units"]) == (5, 3, 2)
    assert 1 < found["perplexity_excluding_unknown"] < found["perplexity"]
    assert chainrule("score", "words", "new.txt").out.count("\n") == 2
    done = chainrule("generate", "words", "--prompt", "quick brown")
    assert done.out.startswith("quick brown") and "the model never saw 'quick', 'brown'" in done.err


@pytest.mark.parametrize(("options", "words"), [
    (["--temperature", "-1"], "temperature = -1.0, expected a number above 0"),
    (["--temperature", "nan"], "temperature = nan, expected a number above 0"),
    (["--top-p", "2"], "top_p = 2.0, expected above 0 and at most 1"),
    (["--top-k", "0"], "top_k = 0, expected at least 1"),
    (["--min-p", "2"], "min_p = 2.0, expected above 0 and at most 1"),
    (["--num", "0"], "num = 0, expected at least 1"),
    (["--num", "few"], "--num"),
    (["--beams", "0"], "beams = 0, expected at least 1"),
    (["--beams", "2", "--length-penalty", "1e308"], "length_penalty = 1e+308, expected at most 10"),
    (["--max-tokens", "0"], "max_tokens = 0, expected at least 1"),
    (["--repetition-penalty", "0"], "repetition_penalty = 0.0, expected at least 1"),
])
def test_invalid_options_of_generate_are_refused(chainrule, place, options, words):
    for more in ([], ["--json"]):
        refused(chainrule("generate", "words", "--prompt", "the", *options, *more), 2, words)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("\\data\\", "", "expected \\data\\"),
    ("ngram 2=", "ngram 2=1", "but the header counts 1"),
    ("ngram 1=", "ngram 1=x", "expected 'ngram 1=' and a number"),
    ("\\2-grams:", "\\4-grams:", "expected \\2-grams:"),
    ("\\end\\", "", "expected \\end\\"),
    ("\tthe\t", "\tcat\t", "the 1-gram 'cat' is there twice"),
    ("\tthe cat\t", "\tthe cow\t", "the word 'cow' is not among the 1-grams"),
    ("\tthe cat\t", "\tthe cat and a\t", "fields after the log-probability"),
    ("\tthe cat\t", "\tthe cat\tnan", "back-off weight 'nan"),
    ("\tthe cat sat", "\tthe cat sat\t-0.5", "at the highest order, expected none or 0"),
    ("\n-", "\n+", "log-probability '+"),
    ("\n-", "\nnan", "log-probability 'nan"),
])
def test_a_broken_arpa_file_is_refused_and_its_line_named(chainrule, place, old, new, words):
    text = (place / "model.arpa").read_text()
    assert old in text
    (place / "broken.arpa").write_text(text.replace(old, new, 1))
    refused(chainrule("import", "broken.arpa", "--out", "new/run"), 1, "broken.arpa:", words)
    assert not Path("new").exists()


@pytest.mark.parametrize(("weight", "words"), [
    ("1e300", "a back-off weight of order 2 is not a finite number"),
    ("99", "the probabilities after 'the cat' sum to "), ("3", "the probabilities after 'the cat' sum to ")])
def test_an_arpa_file_whose_probabilities_do_not_sum_to_one_is_refused(chainrule, place, weight, words):
    text, count = re.subn(r"(\tthe cat\t).*", rf"\g<1>{weight}", (place / "model.arpa").read_text())
    assert count
    (place / "broken.arpa").write_text(text)
    refused(chainrule("import", "broken.arpa", "--out", "new/run"), 1, "broken.arpa: ", words)
    assert not Path("new").exists()


@pytest.mark.parametrize("more", [[], ["model.compact=true"], ["split.valid=0.2"]])
def test_a_model_whose_probabilities_are_no_numbers_is_not_saved(chainrule, place, more):
    done = chainrule("train", "ngram", "--data", "text.txt", "--out", "new/run", "model.order=3",
                     "model.smoothing={name: additive, delta: 1e308}", *more)
    refused(done, 1, "model.smoothing = {'name': 'additive', 'delta': 1e+308}: ", "Nothing was saved.")
    assert not Path("new").exists()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_arpa_file_that_was_cut_is_refused(chainrule, place, share, suffix):
    import gzip

    data = (place / "model.arpa").read_bytes()
    data = gzip.compress(data) if suffix else data
    (place / f"cut.arpa{suffix}").write_bytes(data[: int(share * len(data))])
    refused(chainrule("import", f"cut.arpa{suffix}", "--out", "new"), 1, f"cut.arpa{suffix}")
    assert not Path("new").exists()
    assert not [path for path in os.listdir() if path.startswith(".")]
