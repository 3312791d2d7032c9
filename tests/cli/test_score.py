"""`chainrule score` on real runs: a row for each line, tokens, standard input, and clear refusals."""

import io
import json
import math
import sys

import pytest

from chainrule.cli.app import main
from chainrule.verbs.train import train

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat"]
TEXT = "the cat sat\n\nthe zebra\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of words, and a text to score with a blank line and an unseen word."""
    folder = tmp_path_factory.mktemp("score")
    (folder / "text.txt").write_text("\n".join(LINES * 10) + "\n")
    (folder / "lines.txt").write_text(TEXT)
    (folder / "empty.txt").write_text("")
    (folder / "latin.txt").write_bytes("the cat\ncaf\xe9 sat\n".encode("latin-1"))
    train("ngram", folder / "text.txt", folder / "run", overrides=["model.order=3", "tokenizer.name=words"])
    return folder


def run(*args):
    with pytest.raises(SystemExit) as exit:
        main(["score", *map(str, args)])
    return exit.value.code or 0


def give(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_every_line_has_a_row_and_tokens_add_up_to_lines(folder, capsys):
    assert run(folder / "run", folder / "lines.txt") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [("1", "4", "0"), ("2", "1", "0"), ("3", "3", "1")]
    assert run(folder / "run", folder / "lines.txt", "--tokens") == 0
    tokens = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [token for _, token, _ in tokens] == ["the", "cat", "sat", "</s>", "</s>", "the", "<unk>", "</s>"]
    for number, log_prob, *_ in rows:
        assert float(log_prob) == pytest.approx(sum(float(p) for line, _, p in tokens if line == number), abs=1e-5)


def test_json_has_the_total_that_evaluate_finds(folder, capsys):
    assert run(folder / "run", folder / "text.txt", "--json") == 0
    total = json.loads(capsys.readouterr().out)["total"]
    with pytest.raises(SystemExit):
        main(["evaluate", str(folder / "run"), "--data", str(folder / "text.txt"), "--json"])
    whole = json.loads(capsys.readouterr().out)
    assert total["log_prob"] == pytest.approx(-whole["nll"])
    assert (total["lines"], total["tokens"], total["unknown"]) == (whole["units"], whole["tokens"], whole["unknown"])
    assert total["perplexity"] == pytest.approx(whole["perplexity"])


def test_standard_input_is_scored_like_a_file(folder, capsys, monkeypatch):
    give(monkeypatch, TEXT.encode())
    assert run(folder / "run", "-", "--json", "--tokens") == 0
    piped = json.loads(capsys.readouterr().out)
    assert run(folder / "run", folder / "lines.txt", "--json", "--tokens") == 0
    assert json.loads(capsys.readouterr().out) == piped
    assert [token for token, _ in piped["lines"][0]["token_log_probs"]] == ["the", "cat", "sat", "</s>"]


def test_a_text_may_stand_in_the_place_of_a_file(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    given = {}
    for text in ("the cat sat", "the cat sat\nthe dog", "is it a cat?", "the cat [sat] on */* the mat.", "cat"):
        assert run("run", text, "--json") == 0
        shown = capsys.readouterr()
        given[text] = json.loads(shown.out)
        assert shown.err == ("chainrule: cat: no file or built-in corpus has that name; it is read as a text.\n"
                             if text == "cat" else "")
        give(monkeypatch, text.encode())
        assert run("run", "-", "--json") == 0
        assert json.loads(capsys.readouterr().out) == given[text]
    (folder / "the cat sat").write_text("a dog\n\n")  # a file comes first
    assert run("run", "the cat sat", "--json") == 0
    assert json.loads(capsys.readouterr().out)["total"]["lines"] == 2
    (folder / "the cat sat").unlink()
    assert run("run", "the cat " * 1000) == 0  # longer than any name
    assert run("run", "caf\udce9 sat") == 1
    assert "the text: line 1, byte 3" in capsys.readouterr().err


def test_the_start_mark_in_a_line_is_no_token_that_a_model_can_expect(folder, capsys, monkeypatch):
    give(monkeypatch, b"<s> the\n")
    assert run(folder / "run", "-", "--json") == 0
    line = json.loads(capsys.readouterr().out)["lines"][0]
    assert (line["tokens"], line["unknown"]) == (3, 1)
    assert math.isfinite(line["log_prob"])


def test_text_that_cannot_be_read_is_named(folder, capsys, monkeypatch):
    assert run(folder / "run", folder / "latin.txt") == 1
    shown = capsys.readouterr().err
    assert "latin.txt" in shown
    assert "line 2" in shown
    give(monkeypatch, "the cat\ncaf\xe9 sat\n".encode("latin-1"))
    assert run(folder / "run", "-") == 1
    shown = capsys.readouterr().err
    assert "standard input" in shown
    assert "line 2" in shown


@pytest.mark.parametrize(("args", "code", "message"), [
    (["{}/run", "{}/empty.txt"], 1, "empty.txt: there is no line to score; it is empty."),
    (["{}/run", "{}/none.txt"], 1, "none.txt: no such file or folder"),
    (["{}/run"], 2, "FILE|TEXT"),
    (["{}/run", "my none.txt"], 1, "my none.txt: no such file or folder"),
    (["{}/run", "none/cat"], 1, "none/cat: no such file or folder"),
    (["{}/run", "none*"], 1, "none*: no file matches this pattern."),
    (["{}/run", " "], 1, "no such file or folder"),
])
def test_a_mistake_is_one_line(folder, capsys, args, code, message):
    assert run(*(arg.format(folder) for arg in args)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1
