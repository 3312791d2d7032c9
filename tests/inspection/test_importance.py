"""What parts of a model are worth, and what its layers know, on models made for the purpose."""

import numpy as np
import pytest
import torch

from chainrule.errors import DataError
from chainrule.inspection.importance import importance
from chainrule.inspection.probing import _baselines, _right, probe
from chainrule.inspection.stacks import opened

TEXT = "the cat sat on the mat, and the dog lay by the door all day long.\n" * 30
TINY = ["tokenizer=characters", "model.width=16", "model.context=16", "model.pattern=(sf)*2", "model.s.heads=2"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("importance") / "text.txt"
    path.write_text(TEXT)
    return str(path)


def test_a_sublayer_that_does_nothing_is_worth_nothing_and_one_that_decides_is(text):
    model = opened("transformer", TINY, text)
    with torch.no_grad():
        model.stack.sublayers[1].body.outward.weight.zero_()
    found = importance(model, text, 256)
    assert found.unit == "bits per byte" and found.tokens == 256 and [len(each) for each in found.heads] == [2, 2]
    idle = found.sublayers[1]
    assert (idle.name, idle.bits, idle.low, idle.high) == ("1 swiglu", 0.0, 0.0, 0.0)
    assert all(each.bits != 0 and each.low < each.bits < each.high for each in (found.sublayers[0], *found.heads[0]))


def test_the_whole_model_costs_what_score_says(text):
    model = opened("transformer", TINY, text)
    rows = model.ids(text)[:64].astype(np.int64).reshape(-1, 16)
    text_of = model.tokenizer.decode(rows.ravel().astype(np.int32))
    bits = -float(model.model.score(rows).sum()) / np.log(2) / len(text_of)
    assert importance(model, text, 64).whole == pytest.approx(bits, rel=1e-5)


def test_a_masked_model_is_measured_by_hidden_tokens(text):
    found = importance(opened("bert-small", TINY, text), text, 200)
    assert found.unit == "bits per hidden token" and found.whole > 1 and len(found.sublayers) == 4
    with pytest.raises(DataError, match="fewer than two windows of text"):
        importance(opened("bert-small", TINY, text), text, 2)


def test_probes_find_a_tag_that_is_in_the_embedding(tmp_path, text):
    draw = np.random.default_rng(0)
    words = {"cat": "N", "mat": "N", "dog": "V", "long": "V"}
    tags = tmp_path / "tags.tsv"
    lines = ["\n".join(f"{word}\t{words[word]}" for word in draw.choice(list(words), 4)) for _ in range(50)]
    tags.write_text("\n\n".join(lines) + "\n")
    for recipe in ("transformer", "bert-small"):
        found = probe(opened(recipe, TINY, text), str(tags), 1000)
        assert found.tags == ("N", "V") and (found.words, found.tested) == (160, 40)
        assert [each.name for each in found.layers][:3] == ["embedding", "0 attention", "1 swiglu"]
        assert found.layers[0].accuracy > 0.95 and found.baselines[1].accuracy == 1.0
    with pytest.raises(DataError, match="3 sentences with 2 tags, expected at least 5"):
        probe(opened("transformer", TINY, text), str(tags), 10)


def test_baselines_count_and_intervals_are_wilsons():
    wanted, test = np.array([0, 0, 1, 1, 0, 1]), np.array([False] * 4 + [True] * 2)
    most, by_word = _baselines(["a", "a", "b", "b", "b", "z"], wanted, test)
    assert (most.accuracy, by_word.accuracy) == (0.5, 0.0)
    found = _right("", np.array([1] * 8 + [0] * 2), np.ones(10))
    assert found.low == pytest.approx(0.4902, abs=1e-4) and found.high == pytest.approx(0.9433, abs=1e-4)
