"""The kernel that looks words up gives what the plain tokenizer gives, line by line."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.kernels import words as kernel
from chainrule.text.tokenizers.words import WordTokenizer

KNOWN = [b"<unk>", b"<s>", b"</s>", b"a", b"ab", b"abc", "日本".encode(), b"x" * 300, b"\x1c"]
lines = st.lists(st.text(st.sampled_from("abx日本 \t\0\v\f\r\x1c\u00a0\u2028<>/s"), max_size=12), max_size=9)


def both(batch):
    plain, fast = WordTokenizer(KNOWN), WordTokenizer(KNOWN)
    fast.asked = 1 << 40  # as if much had been asked of it before
    one_by_one = [ids for line in batch for ids in (plain.encode(line), [plain.end])]
    return np.concatenate(one_by_one) if batch else np.zeros(0), fast.encode_lines(batch)


@settings(deadline=None, max_examples=300)
@given(lines)
def test_any_lines_get_the_same_ids(batch):
    plain, fast = both(batch)
    np.testing.assert_array_equal(fast, plain)


def test_marks_and_line_ends_inside_a_line_are_no_tokens_of_their_own():
    for batch in (["a </s> b <s>", "a\nab"], ["", "", " "], ["x" * 300 + " a"], []):
        plain, fast = both(batch)
        np.testing.assert_array_equal(fast, plain)


def test_pieces_on_several_threads_are_joined_in_order(monkeypatch):
    monkeypatch.setattr(kernel, "PIECE", 64)
    batch = [f"a ab abc {'x' * 300} new{i}" * (i % 4) for i in range(200)]
    plain, fast = both(batch)
    np.testing.assert_array_equal(fast, plain)


@settings(deadline=None, max_examples=300)
@given(lines, st.booleans())
def test_a_stream_of_units_gets_the_same_ids_and_marks(batch, whole):
    """A unit ends at 0xFF; a line end inside it is white space, and the last unit may go on in the next stretch."""
    data = b"\xff".join(line.replace("\r", "\n").encode() for line in batch) + b"\xff" * whole
    plain, fast = WordTokenizer(KNOWN), WordTokenizer(KNOWN)
    fast.asked = 1 << 40
    np.testing.assert_array_equal(fast._marked(data), plain._marked(data))
    assert (b"<s>" in data.split() and b"\xff" not in data) <= (plain.start in fast._marked(data))
