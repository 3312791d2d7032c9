"""The figures of an inspected text show what the page shows, for every kind of model."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

import chainrule
from chainrule.errors import OptionError
from chainrule.inspection.inspect_text import inspect
from chainrule.inspection.pictures import chosen, pictures
from chainrule.verbs.train import train

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "text.txt").write_text(TEXT * 4)
    (folder / "read.txt").write_text("the cat\nthe dog sat on a <bird>\n")
    for order in (2, 3):
        train("ngram", folder / "text.txt", folder / f"o{order}", overrides=[f"model.order={order}"])
    train("mixture", folder / "read.txt", folder / "mix",
          overrides=[f"model.members=[{folder / 'o2'},{folder / 'o3'}]"])
    train("gpt", folder / "text.txt", folder / "gpt", overrides=[
        "tokenizer=bytes", "model.pattern=(sf)*2", "model.width=8", "model.context=32", "training.budget.steps=2",
        "training.keep=0"])
    return folder


def tree(figure):
    return ElementTree.fromstring(figure.svg())


def test_an_ngram_model_has_text_bits_and_orders(folder):
    found = inspect(folder / "o3", folder / "read.txt")
    shown = pictures(found)
    assert list(shown) == ["surprisal", "bits", "backoff"]
    pieces = [node.text for node in tree(shown["surprisal"]).iter(f"{SVG}text") if node.get("textLength")]
    assert "".join(pieces) == "the cat </s>↵the dog sat on a <unk> </s>↵"
    heights = [float(node.get("height")) for node in tree(shown["backoff"]).iter(f"{SVG}rect")][1:]
    counts = found["models"][0]["backoff"]["orders"]
    shares = [height / max(heights) for height in heights if height]
    assert shares == pytest.approx([count / max(counts) for count in counts if count], abs=0.01)


def test_the_darkest_token_is_the_most_surprising(folder):
    found = inspect(folder / "o3", folder / "read.txt")
    behind = [node.get("fill") for node in tree(pictures(found)["surprisal"]).iter(f"{SVG}rect")][1:]
    darkness = [sum(int(color[n:n + 2], 16) for n in (1, 3, 5)) for color in behind]
    tokens = [token["surprisal"] for token in found["tokens"] for _ in range(2 if token["token"] == "</s>" else 1)]
    assert len(darkness) == len(tokens) and np.argmin(darkness) == np.argmax(tokens)


def test_a_mixture_has_its_members_and_their_insides(folder):
    shown = pictures(inspect(folder / "mix", folder / "read.txt"))
    assert list(shown) == ["surprisal", "bits", "members", "backoff-member-0", "backoff-member-1"]
    assert [figure.title for figure in chosen(shown, "backoff-member-1")] == ["Which order answered, member 1"]


def test_attention_has_a_map_for_each_head_and_rollout(folder):
    found = inspect(folder / "gpt", folder / "read.txt")
    shown = pictures(found)
    assert list(shown) == ["surprisal", "bits", "attention", "layers", "positions"]
    names = [node.text for node in tree(shown["attention"]).iter(f"{SVG}text")]
    heads = len(found["models"][0]["attention"]["layers"][0]["heads"])
    assert names.count("rollout") == 2 and names.count("head 0") == 2 and f"head {heads - 1}" in names
    assert "1.00" in [node.text for node in tree(shown["layers"]).iter(f"{SVG}text")]
    with pytest.raises(OptionError, match="--figure = 'backoff', expected one of surprisal, bits, attention, layers"):
        chosen(shown, "backoff")


def test_impossible_tokens_are_drawn_too(folder):
    train("ngram", folder / "text.txt", folder / "mle",
          overrides=["model.order=2", "model.smoothing=maximum_likelihood"])
    found = inspect(folder / "mle", folder / "read.txt")
    assert any(token["surprisal"] == math.inf for token in found["tokens"])
    assert all(tree(figure) is not None for figure in pictures(found).values())


def test_a_notebook_shows_the_pictures_and_escapes_everything(folder):
    found = chainrule.inspect(folder / "gpt", folder / "read.txt", tokens=40)
    shown = found._repr_html_()
    assert shown.count("<svg") == 5 and "<bird>" not in shown and "<script" not in shown and "&lt;" in shown
    assert dict(found) == found and found["totals"]["tokens"] == 33
