"""`chainrule inspect --text`: a terminal view, one JSON object, and one line for what cannot be looked at."""

import json
import os
import subprocess
import sys

import pytest

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
COUNT = "import sys\nfrom chainrule.cli.app import main\ntry:\n    main(sys.argv[1:])\nfinally:\n    " \
        "print([name for name in ('torch', 'numba') if name in sys.modules], file=sys.stderr)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from chainrule.jobs import train

    folder = tmp_path_factory.mktemp("inspect-text")
    (folder / "text.txt").write_text(TEXT * 4)
    for name, how in {"words": ["model.order=3"], "characters": ["model.order=3", "tokenizer=characters"],
                      "strict": ["model.order=2", "model.smoothing=maximum_likelihood"],
                      "bi": ["model.order=2"]}.items():
        train("ngram", folder / "text.txt", folder / name, overrides=how)
    train("mixture", folder / "text.txt", folder / "mix",
          overrides=[f"model.members=[{folder / 'words'},{folder / 'bi'}]"])
    return folder


def inspect(folder, *words, code=0, given=None, program=("-m", "chainrule")):
    done = subprocess.run([sys.executable, *program, "inspect", *words], cwd=folder, text=True, input=given,
                          capture_output=True, timeout=100)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_the_terminal_shows_tokens_with_order_and_path_and_what_was_likeliest(folder):
    shown = inspect(folder, "words", "--text-is", "the cat sat on a log").stdout
    assert shown.startswith("words (ngram over words) reads the given text: 7 tokens in 1 line\n")
    lines = [line.split() for line in shown.splitlines()]
    assert ["token", "bits", "rank", "order", "path"] in lines
    a = next(line for line in shown.splitlines() if line.startswith("a "))
    assert "γ(sat on)" in a and "· p(a" in a
    assert shown.count("The most surprising places") == 1 and "the cat sat on" in shown


def test_json_from_a_pipe_is_one_object_and_torch_stays_away(folder):
    program = ("-c", COUNT)
    done = inspect(folder, "words", "--text", "-", "--tokens", "5", "--top", "2", "--json", given=TEXT, program=program)
    found = json.loads(done.stdout)
    assert found["text"] == "standard input" and len(found["tokens"]) == 5 and len(found["tokens"][0]["top"]) == 2
    assert "the text goes on" in done.stderr and done.stderr.endswith("[]\n")


def test_a_mixture_shows_by_whom_each_token_was_expected(folder):
    shown = inspect(folder, "mix", "--text-is", "the cat sat").stdout
    row = next(line for line in shown.splitlines() if line.startswith("cat ")).split()
    assert sum(map(float, row[-2:])) == pytest.approx(1, abs=0.011)


def test_the_impossible_has_no_perplexity(folder):
    done = inspect(folder, "strict", "--text-is", "cat cat")
    assert "impossible for this model" in done.stdout and " inf " in done.stdout
    assert json.loads(inspect(folder, "strict", "--text-is", "cat cat", "--json").stdout)["totals"]["bits"] is None


def test_characters_that_were_never_seen_are_said(folder):
    done = inspect(folder, "characters", "--text-is", "the 猫 sat\n")
    assert "1 of 11 tokens are <unk>: the model never saw what stands there." in done.stderr
    assert "␣" in done.stdout and "⏎" in done.stdout


def test_a_long_table_ends_and_says_so(folder):
    shown = inspect(folder, "words", "--text", "text.txt").stdout
    assert "… and 68 more; --json and --out have all." in shown


def test_how_text_is_read_can_be_changed(folder):
    (folder / "bad.txt").write_bytes(b"the c\xfft\n")
    assert "bad.txt" in inspect(folder, "words", "--text", "bad.txt", code=1).stderr
    assert inspect(folder, "words", "text.errors=replace", "--text", "bad.txt").stdout


@pytest.mark.parametrize(("words", "code", "said"), [
    (["words"], 2, "Try --text FILE, --text-is"),
    (["words", "--text", "text.txt", "--text-is", "a"], 2, "both given"),
    (["words", "bi", "--text", "text.txt"], 2, "2 runs are named, expected one"),
    (["text.errors=replace", "words", "--text", "text.txt"], 2, "expected one before the changes"),
    (["words", "model.order=2", "--text", "text.txt"], 2, "only text.… can be changed now"),
    (["wrods", "--text", "text.txt"], 1, "wrods: no such run folder. Did you mean 'words'?"),
    (["words", "--text", "txet.txt"], 1, "txet.txt: no such file or folder"),
    (["words", "--text-is", ""], 1, "the given text: there is no text in it."),
    (["words", "--text-is", " \n"], 1, "the given text: there is no text in it, only white space."),
    (["words", "--text", "text.txt", "--out", "page.pdf"], 2, "expected a name that ends in .html"),
    (["words", "--text", "text.txt", "--out", "text.txt/page.html"], 1, "text.txt/page.html: "),
    (["words", "--text-is", "a", "--gradients"], 2, "give it with --text FILE"),
    (["words", "--text-is", "a", "--rows", "3"], 2, "--rows = 3 does nothing without --gradients."),
    (["words", "--gradients", "--top", "3"], 2, "--top = 3 does nothing with --gradients."),
])
def test_what_cannot_be_looked_at_is_one_line(folder, words, code, said):
    done = inspect(folder, *words, code=code)
    assert said in done.stderr and done.stdout == ""
    assert len([line for line in done.stderr.splitlines() if "left out" not in line]) == 1


def test_an_empty_pipe_is_named(folder):
    assert "standard input: there is no text in it." in inspect(folder, "words", "--text", "-", code=1, given="").stderr


def test_word_vectors_are_no_language_model_and_that_is_said(folder):
    from chainrule.jobs import train

    train("skipgram", folder / "text.txt", folder / "vectors",
          overrides=["model.dimension=4", "training.epochs=1", "tokenizer.min_count=1"])
    done = inspect(folder, "vectors", "--text-is", "the cat", code=2)
    assert done.stderr.endswith("vectors holds word vectors; inspect needs a language model.\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_said(folder):
    (folder / "closed").mkdir(mode=0o500, exist_ok=True)
    done = inspect(folder, "words", "--text", "text.txt", "--out", "closed/page.html", code=1)
    assert "closed/page.html: the page was not written: Permission denied." in done.stderr
