"""`chainrule evaluate` on real runs: numbers, intervals, Shannon's game, and clear refusals."""

import io
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import warm_python

from chainrule.cli.app import main
from chainrule.verbs.train import train

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text and three runs on it: of words, of bytes, and one without smoothing."""
    folder = tmp_path_factory.mktemp("evaluate")
    (folder / "text.txt").write_text("\n".join(LINES * 10) + "\n")
    (folder / "unseen.txt").write_text("the zebra sat\n\ncafé\n")
    for name, overrides in {"words": ["tokenizer.name=words"], "bytes": ["tokenizer.name=bytes"],
                            "exact": ["tokenizer.name=words", "model.smoothing.name=maximum_likelihood"]}.items():
        train("ngram", folder / "text.txt", folder / name, overrides=["model.order=3", *overrides])
    return folder


def run(*args):
    with pytest.raises(SystemExit) as exit:
        main(["evaluate", *map(str, args)])
    return exit.value.code or 0


def found(capsys, *args):
    assert run(*args, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_words_report_perplexity_and_mark_bits_per_byte_as_not_comparable(folder, capsys):
    result = found(capsys, folder / "words", "--data", folder / "text.txt")
    assert (result["tokens"], result["units"], result["unknown"]) == (10 * (6 + 6 + 5 + 3) + 40, 40, 0)
    assert result["bytes"] == len("\n".join(LINES * 10)) + 1
    assert result["perplexity"] == pytest.approx(math.exp(result["nll"] / result["tokens"]))
    low, high = result["interval"]["perplexity"]
    assert low < result["perplexity"] < high
    assert result["bits_per_byte_comparable"] is False


def test_bytes_are_comparable_and_every_byte_counts(folder, capsys):
    result = found(capsys, folder / "bytes", "--data", folder / "unseen.txt", "--bootstrap", "0")
    assert result["bytes"] == len("the zebra sat\n\ncafé\n".encode())
    assert result["bits_per_byte_comparable"] is True
    assert result["bits_per_byte"] == pytest.approx(result["nll"] / math.log(2) / result["bytes"])
    characters = result["bytes"] - 1  # é has two bytes
    assert result["bits_per_character"] == pytest.approx(result["nll"] / math.log(2) / characters)
    assert result["interval"] is None


def test_unknown_words_are_counted_and_can_be_left_out(folder, capsys):
    result = found(capsys, folder / "words", "--data", folder / "unseen.txt")
    assert (result["units"], result["unknown"]) == (2, 2)
    assert result["perplexity"] != result["perplexity_excluding_unknown"]


def test_an_impossible_text_has_infinite_perplexity_which_json_calls_null(folder, capsys):
    result = found(capsys, folder / "exact", "--data", folder / "unseen.txt")
    assert result["perplexity"] is None
    assert result["impossible"] > 0
    assert run(folder / "exact", "--data", folder / "unseen.txt") == 0
    shown = capsys.readouterr().out
    assert "inf" in shown
    assert "have no probability at all" in shown


def test_more_context_is_less_uncertainty_on_the_text_itself(folder, capsys):
    result = found(capsys, folder / "words", "--data", folder / "text.txt", "--by-order")
    assert [row["context"] for row in result["by_order"]] == [0, 1, 2]
    perplexities = [row["perplexity"] for row in result["by_order"]]
    assert perplexities == sorted(perplexities, reverse=True)
    assert perplexities[-1] == pytest.approx(result["perplexity"])


def test_standard_input_is_measured_like_a_file(folder, capsys, monkeypatch):
    whole = found(capsys, folder / "words", "--data", folder / "text.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "text.txt").read_bytes())))
    assert found(capsys, folder / "words", "--data", "-") == whole
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\n")))
    assert run(folder / "words", "--data", "-") == 1
    assert "standard input: line 1, byte 3" in capsys.readouterr().err
    twice = [part for _ in range(2) for part in ("--data", folder / "text.txt")]
    assert found(capsys, folder / "words", *twice)["tokens"] == 2 * whole["tokens"]


def test_a_person_sees_a_table(folder, capsys):
    assert run(folder / "words", "--data", folder / "text.txt", "--by-order") == 0
    shown = capsys.readouterr().out
    assert "perplexity" in shown
    assert "not comparable: the tokens lose text" in shown
    assert "context" in shown


@pytest.mark.parametrize(("args", "code", "message"), [
    (["{}/words", "--data", "{}/none.txt"], 1, "none.txt: no such file or folder"),
    (["{}/nowhere", "--data", "{}/text.txt"], 1, "nowhere"),
    (["{}/words"], 2, "--data"),
    (["{}/words", "--data", "-", "--data", "-"], 2, "--data - is given twice, expected once"),
    (["{}/words", "--data", "{}/text.txt", "--bootstrap", "-1"], 2, "--bootstrap"),
])
def test_a_mistake_is_one_line(folder, capsys, args, code, message):
    assert run(*(arg.format(folder) for arg in args)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.slow
def test_penn_treebank_has_the_perplexity_that_kenlm_finds(tmp_path, capsys):
    """lmplz -o 5 and its query give 141.19 over 82,430 tokens."""
    data = Path(__file__).parents[3] / "shared" / "data" / "ptb"
    train("ngram", data / "ptb.train.txt.gz", tmp_path / "run", overrides=["model.order=5", "tokenizer.name=words"])
    result = found(capsys, tmp_path / "run", "--data", data / "ptb.test.txt.gz")
    assert result["tokens"] == 82_430
    assert result["perplexity"] == pytest.approx(141.19, abs=0.005)


def test_how_a_text_is_read_can_be_changed_when_it_is_measured(tmp_path):
    good, bad, run = tmp_path / "good.txt", tmp_path / "bad.txt", tmp_path / "run"
    good.write_text("a b c\n" * 9)
    bad.write_bytes(b"a \xe4 c\n")
    chainrule = [warm_python.chainrule()]
    train = ["train", "ngram", "--data", str(good), "--out", str(run)]
    subprocess.run([*chainrule, *train], check=True, capture_output=True)
    for verb in (["evaluate", str(run), "--data", str(bad)], ["score", str(run), str(bad)]):
        refused = subprocess.run([*chainrule, *verb], capture_output=True, text=True)
        assert refused.returncode == 1 and "text.errors=replace" in refused.stderr
        done = subprocess.run([*chainrule, *verb, "text.errors=replace"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        other = subprocess.run([*chainrule, *verb, "model.order=2"], capture_output=True, text=True)
        assert other.returncode == 2 and "only text.… can be changed now" in other.stderr
