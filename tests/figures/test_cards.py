"""What notebooks show of runs, curves, vectors and graphs: HTML and SVG without scripts, with all text escaped."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import chainrule
from chainrule.engine import Tensor, graph
from chainrule.figures.cards import card, facts, table
from chainrule.figures.losses import MOST, loss_curve
from chainrule.training.curve import curve
from chainrule.vectors.store import Vectors

EVIL = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.add(tag)
        assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "href")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cards")
    (folder / "text.txt").write_text("the cat sat on the mat\n" * 60)
    chainrule.train("engine-rnn", folder / "text.txt", folder / EVIL.replace("/", "_"), overrides=[
        "model.width=8", "tokenizer=bytes", "model.context=16", "training.budget.steps=6", "training.log_every=2",
        "split.valid=0.2", "training.evaluate_every=3"])
    return chainrule.load(folder / EVIL.replace("/", "_"))


def test_a_run_shows_what_it_is_and_its_loss(run):
    shown = run._repr_html_()
    assert Tags(shown).found <= {"div", "p", "b", "table", "tbody", "tr", "td", "svg", "title", "rect", "path", "text"}
    assert "engine" in shown and "&lt;script&gt;" in shown and "validation: bits per byte" in shown and "<svg" in shown
    assert repr(run).count("\n") == 0


def test_a_curve_draws_training_and_validation(run):
    found = curve(run.path)
    texts = [node.text for node in ElementTree.fromstring(found._repr_svg_()).iter()]
    assert {"training", "validation", "step", "nats a token"} <= set(texts) and isinstance(found, list)


def test_a_run_without_steps_has_no_curve(tmp_path):
    (tmp_path / "text.txt").write_text("a b a b a\n" * 5)
    chainrule.train("ngram", tmp_path / "text.txt", tmp_path / "run", overrides=["model.order=2"])
    assert curve(tmp_path / "run")._repr_svg_() is None and "<svg" not in chainrule.load(tmp_path / "run")._repr_html_()


def test_a_long_curve_keeps_its_ends():
    figure = loss_curve([{"step": n, "loss": 5 - n / 1e4} for n in range(1, 10_001)])
    path = re.search(r'd="(M[^"]*)" fill="none" stroke-width="1.8"', figure.body)[1]
    assert path.count("L") <= MOST and path.startswith("M72.0 ") and path.rpartition("L")[2].startswith("530.0 ")


def test_vectors_show_words_with_their_nearest():
    table = np.random.default_rng(0).normal(size=(40, 6))
    vectors = Vectors([EVIL, *(f"w{n}" for n in range(39))], table, counts=np.arange(80, 40, -1))
    shown = vectors._repr_html_()
    assert Tags(shown).found == {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    word = re.search(r">(w\d+)</td>", shown)[1]
    other, cosine = vectors.most_similar(word, topn=1)[0]
    assert f"{other.replace('<', '&lt;').replace('>', '&gt;')} {cosine:.2f}" in shown
    assert "<tr>" in Vectors(["a"], np.ones((1, 2)))._repr_html_()


def test_a_graph_is_its_picture():
    shown = graph((Tensor(1.0, name=EVIL) + Tensor(2.0)) * Tensor(3.0))
    assert shown._repr_svg_() == shown.svg() and EVIL in [
        node.text for node in ElementTree.fromstring(shown._repr_svg_()).iter()]


def test_cells_are_text():
    shown = card(EVIL, table([EVIL], [[EVIL, 1234, 0.5, None]]), facts({EVIL: EVIL, "left out": None}))
    assert "script" not in Tags(shown).found and "1,234" in shown and "–" in shown and "left out" not in shown
