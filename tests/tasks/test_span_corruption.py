"""Span corruption: what is cut out and what is left make up the text, and a gap of several tokens is written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import Bytes

import chainrule
from chainrule.errors import OptionError
from chainrule.tasks.span_corruption import SENTINELS, Cutting, SpanCorruption, span_lengths

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
FIRST = Bytes().vocabulary_size


def put_together(source, target):
    """The text from both: each sentinel of the source replaced by what the target has behind it."""
    spans, current = {}, None
    for id in target.tolist()[:-1]:
        if id >= FIRST:
            current = spans.setdefault(id, [])
        else:
            current.append(id)
    return [each for id in source.tolist() for each in (spans[id] if id >= FIRST else [id])]


@given(st.integers(1, 300), st.floats(0.01, 0.9), st.floats(1, 20), st.integers(0, 9))
def test_lengths_of_spans_make_up_the_window(tokens, rate, span, seed):
    found = span_lengths(tokens, rate, span, np.random.default_rng(seed))
    assert found.sum() == tokens and len(found) % 2 == 0 and len(found) // 2 <= SENTINELS
    assert (found[1::2] >= 1).all() and (found[::2] >= (tokens > 1)).all()
    again = span_lengths(tokens, rate, span, np.random.default_rng(seed + 1))
    assert len(again) == len(found) and again[1::2].sum() == found[1::2].sum()


def test_the_text_can_be_put_together_again():
    stream = np.random.default_rng(0).integers(2, FIRST, 1000).astype(np.int32)
    cut = Cutting(SpanCorruption(), Bytes(), 0)
    batch = cut(stream, np.arange(8) * 100, 100, 3, fresh=True)
    for row in range(8):
        assert put_together(batch.source[row], batch.targets[row]) == stream[row * 100:row * 100 + 100].tolist()
    assert batch.targets.shape == (8, 15 + 5 + 1) and batch.source.shape == (8, 85 + 5)
    np.testing.assert_array_equal(batch.inputs[:, 1:], batch.targets[:, :-1])
    again = cut(stream, np.arange(8) * 100, 100, 3, fresh=True)
    np.testing.assert_array_equal(again.source, batch.source)
    assert (cut(stream, np.arange(8) * 100, 100, 4, fresh=True).source != batch.source).any()
    assert len(cut(stream, np.array([0]), 1, 0, fresh=True).targets[0]) == 3, "a window of one token"


def test_gaps_of_several_tokens_are_written(tmp_path):
    (tmp_path / "a.txt").write_text("one two three four five six seven eight nine ten\n" * 200)
    chainrule.train("t5-small", tmp_path / "a.txt", tmp_path / "run", overrides=[
        "tokenizer=words", "model.pattern=sxf", "model.source.pattern=sf", "model.width=32", "model.context=12",
        "training.budget.steps=150", "training.optimizer=adamw", "training.optimizer.rate=0.01", "task.rate=0.25",
        "model.dropout.rate=0", "training.batch=32"])
    run = chainrule.load(tmp_path / "run")
    [gap] = chainrule.fill(run, "one two [MASK] six seven eight nine ten", top=3)
    assert gap[0][0] == "three four five" and gap[0][1] > 0.5 and len(gap) == 3
    assert sum(p for _, p in gap) <= 1.0001
    found = chainrule.evaluate(run, tmp_path / "a.txt")
    assert found["perplexity"] < 2 and found["written"] > 100


def test_wrong_options_are_named(tmp_path):
    with pytest.raises(OptionError, match="task.span = 0.5, expected at least 1"):
        SpanCorruption(span=0.5)
    (tmp_path / "a.txt").write_text("the cat\n" * 50)
    with pytest.raises(OptionError, match="model.source = None, expected a stack that reads what is left"):
        chainrule.train("transformer", tmp_path / "a.txt", tmp_path / "run", overrides=["task=span_corruption"])
