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
    return plain.encode_lines(batch), fast.encode_lines(batch)


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
