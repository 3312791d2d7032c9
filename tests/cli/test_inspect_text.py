"""`chainrule inspect --text`: a terminal view, one JSON object, and one line for what cannot be looked at."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from chainrule.cli.app import main
from chainrule.pages import page

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
COUNT = "import sys\nfrom chainrule.cli.app import main\ntry:\n    main(sys.argv[1:])\nfinally:\n    " \
        "print([name for name in ('torch', 'numba') if name in sys.modules], file=sys.stderr)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from chainrule.verbs.train import train

    folder = tmp_path_factory.mktemp("inspect-text")
    (folder / "text.txt").write_text(TEXT * 4)
    for name, how in {"words": ["model.order=3"], "characters": ["model.order=3", "tokenizer=characters"],
                      "strict": ["model.order=2", "model.smoothing=maximum_likelihood"],
                      "bi": ["model.order=2"]}.items():
        train("ngram", folder / "text.txt", folder / name, overrides=how)
    train("mixture", folder / "text.txt", folder / "mix",
          overrides=[f"model.members=[{folder / 'words'},{folder / 'bi'}]"])
    return folder


@dataclass(frozen=True)
class Done:
    stdout: str
    stderr: str


@pytest.fixture
def inspect(folder, capfd, monkeypatch):
    """inspect(words…): what the command prints, in this process; `given` is its standard input."""
    monkeypatch.chdir(folder)

    def run(*words, code=0, given=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        with pytest.raises(SystemExit) as ended:
            main(["inspect", *words])
        done = Done(*capfd.readouterr())
        assert (ended.value.code or 0) == code, done.stderr
        assert "Traceback" not in done.stderr and "unexpected" not in done.stderr
        return done

    return run


def test_a_run_whose_name_has_an_equals_sign_is_a_run(inspect, folder):
    (folder / "order=2").symlink_to(folder / "bi", target_is_directory=True)
    assert inspect("order=2", "--text-is", "the cat").stdout.startswith("order=2 (ngram over words)")
    assert "0 runs are named" in inspect("order=3", "--text-is", "the cat", code=2).stderr


def test_the_terminal_shows_tokens_with_order_and_path_and_what_was_likeliest(inspect):
    shown = inspect("words", "--text-is", "the cat sat on a log").stdout
    assert shown.startswith("words (ngram over words) reads the given text: 7 tokens in 1 line\n")
    lines = [line.split() for line in shown.splitlines()]
    assert ["token", "bits", "rank", "order", "path"] in lines
    a = next(line for line in shown.splitlines() if line.startswith("a "))
    assert "γ(sat on)" in a and "· p(a" in a
    assert shown.count("The most surprising places") == 1 and "the cat sat on" in shown


def test_json_from_a_pipe_is_one_object_and_torch_stays_away(folder):
    words = ["inspect", "words", "--text", "-", "--tokens", "5", "--top", "2", "--json"]
    done = subprocess.run([sys.executable, "-c", COUNT, *words], cwd=folder, text=True, input=TEXT, check=True,
                          capture_output=True, timeout=600)
    found = json.loads(done.stdout)
    assert found["text"] == "standard input" and len(found["tokens"]) == 5 and len(found["tokens"][0]["top"]) == 2
    assert "tokens of the text were read" in done.stderr and done.stderr.endswith("[]\n")


def test_a_mixture_shows_by_whom_each_token_was_expected(inspect):
    shown = inspect("mix", "--text-is", "the cat sat").stdout
    row = next(line for line in shown.splitlines() if line.startswith("cat ")).split()
    assert sum(map(float, row[-2:])) == pytest.approx(1, abs=0.011)


def test_a_text_with_impossible_tokens_has_no_perplexity(inspect):
    done = inspect("strict", "--text-is", "cat cat")
    assert "impossible for this model" in done.stdout and " inf " in done.stdout
    assert json.loads(inspect("strict", "--text-is", "cat cat", "--json").stdout)["totals"]["bits"] is None


def test_characters_that_were_never_seen_are_reported(inspect):
    done = inspect("characters", "--text-is", "the 猫 sat\n")
    assert "1 of 11 tokens are <unk>: they were not in the training text." in done.stderr
    assert "␣" in done.stdout and "⏎" in done.stdout


def test_a_long_table_ends_and_says_so(inspect):
    shown = inspect("words", "--text", "text.txt").stdout
    assert "… and 68 more; --json and --out have all." in shown


def test_how_text_is_read_can_be_changed(folder, inspect):
    (folder / "bad.txt").write_bytes(b"the c\xfft\n")
    assert "bad.txt" in inspect("words", "--text", "bad.txt", code=1).stderr
    assert inspect("words", "text.errors=replace", "--text", "bad.txt").stdout


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
    (["words", "--text", "text.txt", "--out", "page.pdf"], 2, "expected a name that ends in .html, .svg or .png"),
    (["words", "--text", "text.txt", "--figure", "bits"], 2, "--figure = 'bits' needs --out FILE.svg or FILE.png"),
    (["words", "--text", "text.txt", "--figure", "attention", "--out", "x.svg"], 2,
     "--figure = 'attention', expected one of surprisal, bits, backoff."),
    (["words", "--text-is", "a", "--gradients"], 2, "give it with --text FILE"),
    (["words", "--text-is", "a", "--rows", "3"], 2, "--rows = 3 does nothing without --gradients."),
    (["words", "--gradients", "--top", "3"], 2, "--top = 3 does nothing with --gradients."),
])
def test_an_impossible_inspection_is_one_line(inspect, words, code, said):
    done = inspect(*words, code=code)
    assert said in done.stderr and done.stdout == ""
    assert len([line for line in done.stderr.splitlines() if "left out" not in line]) == 1


def test_an_empty_pipe_is_named(inspect):
    assert "standard input: there is no text in it." in inspect("words", "--text", "-", code=1, given="").stderr


def test_word_vectors_are_no_language_model_and_that_is_reported(folder, inspect):
    from chainrule.verbs.train import train

    train("skipgram", folder / "text.txt", folder / "vectors",
          overrides=["model.dimension=4", "training.epochs=1", "tokenizer.min_count=1"])
    done = inspect("vectors", "--text-is", "the cat", code=2)
    assert done.stderr.endswith("vectors holds word vectors; --text-is needs a language model or a text "
                                "classifier. Name words instead, or draw --map.\n")


def test_a_page_that_cannot_be_written_is_reported(folder, inspect, monkeypatch):
    monkeypatch.setattr(page, "built", lambda name: "")  # the real script is drawn by tests/pages
    done = inspect("words", "--text", "text.txt", "--out", "text.txt/page.html", code=1)
    assert "text.txt/page.html: the page was not written: " in done.stderr and done.stdout == ""
    if os.geteuid():  # root may write anywhere
        (folder / "closed").mkdir(mode=0o500, exist_ok=True)
        done = inspect("words", "--text", "text.txt", "--out", "closed/page.html", code=1)
        assert "closed/page.html: the page was not written: Permission denied." in done.stderr
