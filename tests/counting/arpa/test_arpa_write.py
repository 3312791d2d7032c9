"""Writing ARPA files: the exact text, numbers that read back, spellings, and whole files or none."""

import gzip
import resource
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.counting.arpa import write as writing
from chainrule.counting.arpa.numbers import TINY, to_decimal, to_natural
from chainrule.counting.arpa.spelling import spelled
from chainrule.counting.arpa.write import PlainLines, write_arpa
from chainrule.counting.table import Table, TableLevel
from chainrule.errors import DataError, StorageError
from chainrule.kernels.arpa_write import FastLines

WORDS = ["<unk>", "<s>", "</s>", "a", "b"]
TEXT = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1\t<unk>\t0
0\t<s>\t-0.30103
-99\t</s>\t0
-0.5\ta\t0.125
-1e-05\tb\t-99

\\2-grams:
-0.25\t<s> a\t-2
-1.2345678\ta </s>\t0
0\ta b\t0

\\3-grams:
-3\t<s> a b

\\end\\
"""


def natural(*log10):
    return to_natural(np.array(log10, float))


def small_table():
    one = TableLevel(np.arange(5, dtype=np.int32), natural(-1, -np.inf, -99, -0.5, -1e-5),
                     natural(0, -0.30103, 0, 0.125, -99), np.array([0, 0, 1, 1, 3, 3], np.uint32))
    two = TableLevel(np.array([3, 2, 4], np.int32), natural(-0.25, -1.2345678, 1e-7), natural(-2, 0, 0),
                     np.array([0, 1, 1, 1], np.uint32))
    return Table([one, two, TableLevel(np.array([4], np.int32), natural(-3), None, None)], 1, 2, 0)


def test_a_file_is_what_the_format_says(tmp_path):
    assert write_arpa(small_table(), WORDS, tmp_path / "x.arpa") == [5, 3, 1]
    assert (tmp_path / "x.arpa").read_text() == TEXT


def test_words_may_come_from_a_function_and_the_name_decides_the_compression(tmp_path):
    write_arpa(small_table(), WORDS.__getitem__, tmp_path / "x.arpa.gz")
    assert gzip.decompress((tmp_path / "x.arpa.gz").read_bytes()).decode() == TEXT
    first = (tmp_path / "x.arpa.gz").read_bytes()
    write_arpa(small_table(), WORDS, tmp_path / "x.arpa.gz")
    assert (tmp_path / "x.arpa.gz").read_bytes() == first


def test_the_kernel_writes_the_same_file_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "JIT_PAYS_FROM", 0)
    monkeypatch.setattr(writing, "CHUNK", 2)
    write_arpa(small_table(), WORDS, tmp_path / "x.arpa")
    assert (tmp_path / "x.arpa").read_text() == TEXT


finite = st.floats(-227, 227, width=32)


@settings(deadline=None, max_examples=300)
@given(st.lists(finite, min_size=1, max_size=20))
def test_numbers_read_back_and_no_shorter_ones_would(values):
    values = np.array(values, np.float32)
    values = values[np.abs(values) > TINY * 3]
    for value, decimal in zip(values, to_decimal(values), strict=True):
        text = f"{decimal:.9g}"
        assert to_natural(np.array(float(text))) == value
        digits = len(text.lstrip("-0.").partition("e")[0].replace(".", ""))
        if digits > 1:
            exact = float(value) / np.log(10)
            assert to_natural(np.array(float(f"{exact:.{digits - 1}g}"))) != value


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.floats(-500, 0, width=32) | st.just(-np.inf), finite | st.just(-np.inf),
                          st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_the_kernel_formats_what_python_formats(rows):
    log_probs, backoffs = np.array([row[:2] for row in rows], np.float32).T
    ids = np.array([row[2:] for row in rows], np.int32)
    words = ["<unk>", "", "é", "⟨s⟩", "word"]
    assert FastLines(words)(ids, log_probs, backoffs) == PlainLines(words)(ids, log_probs, backoffs)
    assert FastLines(words)(ids, log_probs, None) == PlainLines(words)(ids, log_probs, None)


def test_the_kernel_formats_a_hundred_thousand_numbers_of_all_sizes_as_python_does():
    draw = np.random.default_rng(0)
    values = -(10.0 ** draw.uniform(-11, 2.3, 100_000)).astype(np.float32)
    values[:2000] = natural(*(-np.arange(2000) / 20))
    ids = np.zeros((len(values), 1), np.int32)
    assert FastLines(["w"])(ids, values, -values) == PlainLines(["w"])(ids, values, -values)


def spelling_of(*tokens, unknown=0):
    level = TableLevel(np.arange(len(tokens), dtype=np.int32), np.zeros(len(tokens)), None, None)
    return spelled(Table([level], 1, 2, unknown), list(tokens))


def test_an_ordinary_word_unk_keeps_its_name_and_a_sentence_says_so(caplog):
    caplog.set_level("INFO", "chainrule")
    assert spelling_of("<unknown>", "<s>", "</s>", "a", "<unk>") == ["<unknown>", "<s>", "</s>", "a", "<unk>"]
    assert "the text has its own word <unk>" in caplog.text


def test_marks_have_the_names_of_the_format_whatever_the_tokenizer_calls_them():
    assert spelling_of("[UNK]", "⟨s⟩", "⟨/s⟩", "a") == ["<unk>", "<s>", "</s>", "a"]


def test_tokens_spelled_like_marks_get_other_brackets(caplog):
    caplog.set_level("INFO", "chainrule")
    assert spelling_of("<unk>", "⟨s⟩", "⟨/s⟩", "<s>", "</s>", "<UNK>")[3:] == ["⟨s⟩", "⟨/s⟩", "⟨UNK⟩"]
    assert "the token </s> of the text is written as ⟨/s⟩" in caplog.text
    assert spelling_of("x", "⟨s⟩", "⟨/s⟩", "<UNK>", unknown=None) == ["x", "<s>", "</s>", "<UNK>"]


def test_tokens_with_white_space_are_spelled_in_the_byte_alphabet(caplog):
    caplog.set_level("INFO", "chainrule")
    assert spelling_of("<unk>", "<s>", "</s>", " ", "\n", "e", "é", "Ġ")[3:] == ["Ġ", "Ċ", "e", "Ã©", "Äł"]
    assert "byte alphabet" in caplog.text


def test_two_tokens_with_one_spelling_are_refused():
    with pytest.raises(DataError, match="tokens 3 and 4 would both be '⟨s⟩' in an ARPA file"):
        spelling_of("<unk>", "<s>", "</s>", "<s>", "⟨s⟩")


def test_a_file_that_cannot_grow_is_not_left_half_written(tmp_path, monkeypatch):
    path = tmp_path / "x.arpa"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StorageError, match="x.arpa: not written: File too large"):
            write_arpa(small_table(), WORDS, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert [p.name for p in tmp_path.iterdir()] == ["x.arpa"]
    assert path.read_text() == "old"


def test_an_interrupted_export_leaves_the_old_file(tmp_path, monkeypatch):
    class Interrupted(PlainLines):
        def __call__(self, ids, log_probs, backoffs):
            if ids.shape[1] == 2:
                raise KeyboardInterrupt
            return super().__call__(ids, log_probs, backoffs)

    monkeypatch.setattr(writing, "PlainLines", Interrupted)
    (tmp_path / "x.arpa").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_arpa(small_table(), WORDS, tmp_path / "x.arpa")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x.arpa", "old")]


def test_a_folder_or_a_missing_folder_is_refused_by_name(tmp_path):
    with pytest.raises(StorageError, match="not a regular file"):
        write_arpa(small_table(), WORDS, tmp_path)
    with pytest.raises(StorageError, match="x.arpa: not written: No such file or directory"):
        write_arpa(small_table(), WORDS, tmp_path / "none" / "x.arpa")
