"""`chainrule generate` on real runs: seeds, spaces, strategies, and clear refusals."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chainrule.cli.app import main
from chainrule.runs import load
from chainrule.verbs.train import train

LINES = ["the cat sat on the mat", "the dog sat on the cat", "a cat and a dog", "the mat sat"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text and two runs on it: of words and of bytes."""
    folder = tmp_path_factory.mktemp("generate")
    (folder / "text.txt").write_text("\n".join(LINES * 10) + "\n")
    for name in ("words", "bytes"):
        train("ngram", folder / "text.txt", folder / name, overrides=["model.order=3", f"tokenizer.name={name}"])
    return folder


def run(*args):
    with pytest.raises(SystemExit) as exit:
        main(["generate", *map(str, args)])
    return exit.value.code or 0


def found(capsys, *args):
    assert run(*args, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_texts_begin_with_the_prompt_and_the_seed_decides_them(folder, capsys):
    args = [folder / "words", "--prompt", "the cat", "--num", "3", "--seed", "1"]
    assert run(*args) == 0
    first = capsys.readouterr().out
    assert run(*args) == 0
    assert capsys.readouterr().out == first
    lines = first.splitlines()
    assert len(lines) == 3
    assert all(line == "the cat" or line.startswith("the cat ") for line in lines)
    assert run(*args[:-1], "2") == 0
    assert capsys.readouterr().out != first


def test_sample_i_is_the_same_for_any_num(folder, capsys):
    args = [folder / "words", "--seed", "7", "--num"]
    assert found(capsys, *args, 5)["texts"][:2] == found(capsys, *args, 2)["texts"]


def test_json_has_each_text_with_its_tokens_and_probability(folder, capsys):
    result = found(capsys, folder / "words", "--prompt", "the  cat ", "--num", 2, "--max-tokens", 3)
    assert result["prompt"] == "the  cat"
    for text in result["texts"]:
        assert text["text"] == "".join(f" {token}" for token in text["tokens"] if token != "</s>")
        assert text["reason"] in ("end", "length")
        assert text["log_prob"] < 0
        assert len(text["ids"]) == len(text["tokens"]) <= 3


def test_a_text_cut_short_does_not_disturb_the_probability_of_the_next(folder, capsys):
    loaded = load(folder / "words")
    texts = found(capsys, folder / "words", "--num", 6, "--max-tokens", 2)["texts"]
    assert "length" in {text["reason"] for text in texts}
    for text in texts:
        alone = loaded.model.score(np.array([text["ids"]]))[0].sum()
        assert text["log_prob"] == pytest.approx(alone, rel=1e-5)


def test_a_document_model_keeps_the_prompt_s_spaces(folder, capsys):
    result = found(capsys, folder / "bytes", "--prompt", "the ", "--max-tokens", 12, "--stop", "\n")
    assert result["prompt"] == "the "
    assert "\n" not in result["texts"][0]["text"]


def test_temperature_zero_is_greedy_and_beams_find_likelier_texts(folder, capsys):
    greedy = found(capsys, folder / "words", "--prompt", "a", "--temperature", 0)["texts"][0]
    beams = found(capsys, folder / "words", "--prompt", "a", "--beams", 6, "--num", 2, "--length-penalty", 0)["texts"]
    assert len(beams) == 2
    assert beams[0]["log_prob"] >= greedy["log_prob"] - 1e-9
    assert beams[0]["log_prob"] >= beams[1]["log_prob"]


def test_every_filter_can_be_set(folder, capsys):
    result = found(capsys, folder / "words", "--prompt", "the", "--temperature", 0.5, "--top-k", 1, "--top-p", 0.9,
                   "--min-p", 0.1, "--repetition-penalty", 1.1, "--num", 4)
    assert len({text["text"] for text in result["texts"]}) == 1  # top-k 1 leaves no choice


def test_words_never_seen_are_named(folder, capsys):
    assert run(folder / "words", "--prompt", "the zebra") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("the zebra")
    assert "the model never saw 'zebra'" in shown.err


@pytest.mark.parametrize(("args", "sentence"), [
    (["--length-penalty", "1"], "the length penalty does nothing without beams."),
    (["--beams", "2", "--seed", "3"], "the seed does nothing here: nothing is drawn at random."),
    (["--temperature", "0", "--seed", "3"], "the seed does nothing here: nothing is drawn at random."),
])
def test_an_option_without_effect_is_refused(folder, capsys, args, sentence):
    assert run(folder / "words", *args) == 0
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(("args", "message"), [
    (["--top-k", "0"], "top_k = 0, expected at least 1."),
    (["--temperature", "-1"], "temperature = -1.0, expected a number above 0."),
    (["--num", "0"], "num = 0, expected at least 1."),
    (["--max-tokens", "0"], "max_tokens = 0, expected at least 1."),
    (["--temperature", "0", "--num", "2"], "num = 2, expected at most 1"),
    (["--beams", "2", "--num", "3"], "num = 3, expected at most 2"),
    (["--seed", "-1"], "seed = -1, expected between 0"),
    (["--stop", ""], "stop = '', expected a text of at least one character."),
    (["--tempreature", "1"], "--temperature"),
])
def test_a_mistake_is_one_line_and_exit_code_2(folder, capsys, args, message):
    assert run(folder / "words", *args) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["--beams", "3"], ["--temperature", "0.7", "--top-p", "0.9"]])
def test_an_n_gram_generates_where_torch_and_numba_cannot_be_imported(folder, options):
    script = ("import sys; sys.modules['torch'] = sys.modules['numba'] = None\n"
              "from chainrule.cli.app import main; main(sys.argv[1:])")
    command = [sys.executable, "-c", script, "generate", str(folder / "words"), "--prompt", "the", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the")
    assert done.stderr == ""
