"""Reading ARPA files: what was written comes back exactly, in any order of lines; a mistake is named by its line."""

import bz2
import gzip
import lzma
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.counting.arpa import lines as lines_of
from chainrule.counting.arpa import read as reading
from chainrule.counting.arpa.parse import BadLine, parse_plainly
from chainrule.counting.arpa.read import read_arpa
from chainrule.counting.arpa.write import grams, write_arpa
from chainrule.counting.count import count
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.errors import DataError
from chainrule.kernels.arpa_read import FastParser
from chainrule.recipe.registry import build

UNKNOWN, START, END, SIZE = 0, 1, 2, 101
WORDS = ["<unk>", "<s>", "</s>", *(f"w{'é' * (i % 3)}{i}" for i in range(3, SIZE))]
SMALL = """
# made by hand
\\data\\
ngram 1=5
ngram 2=4
ngram 3=2

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-0.4\ta\t-0.25
-0.6\tb\t-0.125
-2\t<unk>

\\2-grams:
-0.3\tb </s>
-0.2\t<s> a\t0.1
-0.7\ta b\t0
-0.9\t<s> b

\\3-grams:
-0.05\ta b </s>
-0.1\t<s> a b

\\end\\

"""


@pytest.fixture(params=["plain", "kernel"], autouse=True)
def way(request, monkeypatch):
    """Every test reads both ways."""
    monkeypatch.setattr(reading, "JIT_PAYS_FROM", 0 if request.param == "kernel" else 1 << 60)


def table_of(method="modified_kneser_ney", prune=(0,), order=4):
    draw = np.random.default_rng(0)
    ids = np.minimum(draw.zipf(1.3, 6000) + 2, SIZE - 1).astype(np.int32)
    ids[draw.random(len(ids)) < 0.1] = END
    ids[-1] = END
    return estimate(count(ids, order, SIZE, start=START, end=END), build("counting/smoothing", method),
                    Marks(START, END, UNKNOWN, True), prune=list(prune), scratch=Scratch(), say=print)


def read_text(tmp_path, text):
    path = tmp_path / "x.arpa"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_arpa(path)


def assert_same(one, other):
    assert one.tensors().keys() == other.tensors().keys()
    for key, values in one.tensors().items():
        np.testing.assert_array_equal(values, other.tensors()[key], err_msg=key)


def as_dictionary(table, words):
    """n-gram → (log10 p, log10 γ), spelled out from the table."""
    found = {}
    for n, level in enumerate(table.levels, start=1):
        backoffs = np.zeros(len(level)) if level.backoffs is None else level.backoffs
        for ids, p, b in zip(grams(table, n, 0, len(level)), level.log_probs, backoffs, strict=True):
            found[" ".join(words[i] for i in ids)] = (round(p / np.log(10), 5), round(b / np.log(10), 5))
    return found


@pytest.mark.parametrize("suffix", [".arpa", ".arpa.gz"])
@pytest.mark.parametrize(("method", "prune", "order"), [
    ("modified_kneser_ney", (0,), 5), ("modified_kneser_ney", (0, 0, 1), 4), ("maximum_likelihood", (0,), 3),
    ("witten_bell", (0,), 1)])
def test_written_arpa_files_are_read_back_to_the_last_bit(method, prune, order, suffix, tmp_path):
    table = table_of(method, prune, order)
    write_arpa(table, WORDS, tmp_path / f"x{suffix}")
    again, words = read_arpa(tmp_path / f"x{suffix}")
    assert words == WORDS
    assert (again.start, again.end, again.unknown) == (START, END, UNKNOWN)
    assert_same(table, again)


@pytest.mark.parametrize("size", [100, 1000])
def test_sections_longer_than_a_block_come_back_too(size, tmp_path, monkeypatch):
    monkeypatch.setattr(lines_of, "BLOCK", size)
    table = table_of(order=3)
    write_arpa(table, WORDS, tmp_path / "x.arpa")
    assert_same(table, read_arpa(tmp_path / "x.arpa")[0])


def test_a_small_file_is_read_as_it_stands(tmp_path):
    table, words = read_text(tmp_path, SMALL)
    assert words == ["<unk>", "<s>", "</s>", "a", "b"]
    found = as_dictionary(table, words)
    assert found.pop("<s>") == (-np.inf, -0.5)
    assert found == {"<unk>": (-2, 0), "</s>": (-1, 0), "a": (-0.4, -0.25), "b": (-0.6, -0.125), "b </s>": (-0.3, 0),
                     "<s> a": (-0.2, 0.1), "a b": (-0.7, 0), "<s> b": (-0.9, 0), "a b </s>": (-0.05, 0),
                     "<s> a b": (-0.1, 0)}


@pytest.mark.parametrize("change", [
    ("\n", "\r\n"), ("\t", "  "), ("<unk>", "<UNK>"), ("<s> a b", "<s> a b\t0"), ("ngram 1=5", "ngram  1 = 5"),
    ("-0.7", "-7.0e-1"), ("-0.7", "-.70000000000000000"), ("-99", "-inf"), ("\\end\\\n\n", "\\end\\")])
def test_spellings_of_the_same_file_give_the_same_table(change, tmp_path):
    assert change[0] in SMALL
    assert_same(read_text(tmp_path, SMALL)[0], read_text(tmp_path, SMALL.replace(*change))[0])


def test_the_order_of_lines_does_not_matter(tmp_path):
    table = table_of(order=3)
    write_arpa(table, WORDS, tmp_path / "x.arpa")
    head, *sections = (tmp_path / "x.arpa").read_text().split("\n\n")
    for i in (1, 2):
        title, *rows = sections[i].split("\n")
        random.Random(i).shuffle(rows)
        sections[i] = "\n".join([title, *rows])
    assert_same(table, read_text(tmp_path, "\n\n".join([head, *sections]))[0])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_known_by_their_first_bytes_and_refused_when_cut(pack, tmp_path):
    write_arpa(table_of(), WORDS, tmp_path / "whole.arpa")
    data = pack((tmp_path / "whole.arpa").read_bytes())
    assert_same(read_text(tmp_path, data)[0], table_of())
    with pytest.raises(DataError, match="x.arpa: the compressed file was cut"):
        read_text(tmp_path, data[:len(data) // 2])
    middle = len(data) // 2
    with pytest.raises(DataError, match="x.arpa: (the compressed file is damaged|cannot be read)|x.arpa:"):
        read_text(tmp_path, data[:middle] + bytes(200) + data[middle + 200:])


def by_the_definition(stored, context, word):
    """ln p by backing off through a dictionary of n-grams."""
    if (*context, word) in stored:
        return stored[*context, word][0]
    return stored.get(context, (0, 0))[1] + by_the_definition(stored, context[1:], word)


def test_a_missing_context_is_added_without_changing_any_probability(tmp_path, caplog):
    caplog.set_level("INFO", "chainrule")
    write_arpa(table_of(order=4), WORDS, tmp_path / "whole.arpa")
    head, *sections = (tmp_path / "whole.arpa").read_text().split("\n\n")
    for i in (1, 2):  # bigrams and trigrams lose two lines in three: also contexts of contexts
        title, *rows = sections[i].split("\n")
        kept = rows[::3]
        sections[i] = "\n".join([title, *kept])
        head = head.replace(f"ngram {i + 1}={len(rows)}", f"ngram {i + 1}={len(kept)}")
    table, words = read_text(tmp_path, "\n\n".join([head, *sections]))
    assert "n-grams of order 3 are contexts of longer ones but not in the file" in caplog.text
    stored = {}
    for section in sections[:4]:
        for row in section.split("\n")[1:]:
            p, gram, *backoff = row.split("\t")
            stored[tuple(gram.split())] = (float(p), float(backoff[0]) if backoff else 0.0)
    draw, model = np.random.default_rng(1), NGram(table)
    for _ in range(300):
        ids = np.minimum(draw.zipf(1.3, 6) + 2, SIZE - 1)
        scores = model.score(ids[None])[0] / np.log(10)
        text = ["<s>", *(words[i] for i in ids)]
        for t in range(1, 7):
            context = tuple(text[max(0, t - 3):t])
            assert scores[t - 1] == pytest.approx(by_the_definition(stored, context, text[t]), abs=1e-4)


def test_missing_marks_are_added_with_a_sentence(tmp_path, caplog):
    caplog.set_level("INFO", "chainrule")
    table, words = read_text(tmp_path, "\\data\\\nngram 1=2\n\n\\1-grams:\n-0.3\tb\n-0.3\ta\n\n\\end\\\n")
    assert words == ["<unk>", "<s>", "</s>", "b", "a"]
    assert table.levels[0].log_probs[:3].tolist() == [-np.inf] * 3
    for sentence in ("no <unk>: words that it does not know", "no <s>: a unit's first", "no </s>: every unit has"):
        assert f"the file has {sentence}" in caplog.text


@pytest.mark.parametrize(("old", "new", "line", "problem"), [
    ("\\data\\", "\\dta\\", 3, r"expected \\data\\; this is not an ARPA file"),
    ("# made", "made", 2, r"'made by hand', expected \\data\\"),
    ("ngram 2=4", "ngram 3=4", 5, "expected 'ngram 2=' and a number"),
    ("ngram 2=4", "ngram 2=four", 5, "expected 'ngram 2=' and a number"),
    ("ngram 1=5\nngram 2=4\nngram 3=2\n", "", 4, "the header counts no 1-grams"),
    ("ngram 3=2\n", "".join(f"ngram {n}=2\n" for n in range(3, 26)), 29, "n-grams of order 25, expected at most 24"),
    ("ngram 2=4", "ngram 2=5", 20, "the section ends after 4 2-grams, but the header counts 5"),
    ("ngram 2=4", "ngram 2=3", 19, "more 2-grams than the 3 that the header counts"),
    ("ngram 1=5", "ngram 1=4", 13, "more 1-grams than the 4 that the header counts"),
    ("\\2-grams:", "\\3-grams:", 15, r"expected \\2-grams:"),
    ("\\3-grams:\n-0.05\ta b </s>\n-0.1\t<s> a b\n\n", "", 21, r"expected \\3-grams:"),
    ("\\end\\", "\\ende\\", 25, r"expected \\end\\"),
    ("\\end\\", "\\end\\\n\nmore", 27, r"'more' after \\end\\"),
    ("\n\\end\\\n\n", "", 24, r"the file ends here, before \\end\\; it was cut"),
    ("\\end\\\n\n", "", 24, r"the file ends here, expected \\end\\"),
    ("-0.7\ta b", "0.7\ta b", 18, "log-probability '0.7', expected a number that is at most 0"),
    ("-0.7\ta b", "nan\ta b", 18, "log-probability 'nan'"),
    ("-0.7\ta b", "x\ta b", 18, "log-probability 'x'"),
    ("-0.7\ta b", "-1_0\ta b", 18, "log-probability '-1_0'"),
    ("-0.7\ta b\t0", "-0.7\ta b\tnan", 18, "back-off weight 'nan', expected a number"),
    ("-0.7\ta b\t0", "-0.7\ta b\tinf", 18, "back-off weight 'inf', expected a number"),
    ("-0.7\ta b\t0", "-0.7\ta b c\t0", 18, "4 fields after the log-probability, expected 2 words and at most one"),
    ("-0.7\ta b\t0", "-0.7\ta", 18, "1 fields after the log-probability"),
    ("-0.7\ta b\t0", "-0.7\ta c\t0", 18, "the word 'c' is not among the 1-grams"),
    ("-0.7\ta b\t0", "  \t ", 18, "0 fields after the log-probability"),
    ("-0.9\t<s> b", "-0.9\ta b", 19, "this 2-gram is in the file twice"),
    ("-0.05\ta b </s>", "-0.05\t<s> a b", 23, "this 3-gram is in the file twice"),
    ("-0.6\tb", "-0.6\ta", 12, "the 1-gram 'a' is there twice"),
    ("-0.6\tb", "-0.6\t<UNK>", 13, "both <unk> and <UNK>"),
    ("-0.1\t<s> a b", "-0.1\t<s> a b\t-0.5", 23, "back-off weight '-0.5' at the highest order, expected none or 0"),
    ("-0.4\ta\t-0.25", "-0.4\ta\t-0.25\t1", 11, "3 fields after the log-probability, expected 1 word and"),
])
def test_a_broken_file_is_refused_and_the_line_named(old, new, line, problem, tmp_path):
    assert old in SMALL
    with pytest.raises(DataError, match=rf"x\.arpa:{line}: .*{problem}"):
        read_text(tmp_path, SMALL.replace(old, new, 1))


@pytest.mark.parametrize(("data", "problem"), [
    (b"", r"x\.arpa:1: the file ends here, expected \\data\\"),
    (b"\n" * 3_000_000, r"x\.arpa:3000000: the file ends here, expected \\data\\"),
    (bytes(range(256)) * 50, r"x\.arpa:1: .*expected \\data\\; this is not an ARPA file"),
    (b"a" * (30 << 20), r"x\.arpa:1: a line longer than 16 MB"),
    (SMALL.encode().replace(b"\tb\t", b"\t\xe9\t"), r"x\.arpa:12: the word b'\\xe9' is not UTF-8"),
    (SMALL.encode().replace(b"\tb\t", b"\t\0\t"), r"x\.arpa:12: the word '\\x00' has a NUL byte"),
])
def test_a_file_that_is_no_text_is_refused(data, problem, tmp_path):
    with pytest.raises(DataError, match=problem):
        read_text(tmp_path, data)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    text = SMALL.rstrip()
    for size in range(len(text)):
        with pytest.raises(DataError, match=r"x\.arpa:\d+: "):
            read_text(tmp_path, text[:size])


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(DataError, match=r"none\.arpa: cannot be read: No such file"):
        read_arpa(tmp_path / "none.arpa")


odd = st.sampled_from(["-inf", "nan", "0", "-0", "1", "--1", "-1.2.3", ".", "-", "1e", "-99"])
decimal = st.from_regex(r"[-+]?[0-9]{0,18}\.?[0-9]{0,18}([eE][-+]?[0-9]{1,3})?", fullmatch=True)
number = st.one_of(st.floats(-1e6, 0).map(repr), decimal, odd)
words = st.sampled_from(["a b", "a  c", "b", "a b c", "é a", "\x01 a"])
row = st.tuples(number, words, st.sampled_from(["", "\t"]) | number.map("\t".__add__))


@settings(deadline=None, max_examples=300)
@given(st.lists(row, min_size=1, max_size=4), st.booleans())
def test_the_kernel_parses_as_the_plain_way_does(rows, top):
    block = "".join(f"{p}\t{words}{backoff}\n" for p, words, backoff in rows).encode()
    ids = {b"a": 7, b"b": 0, "é".encode(): 3, b"\x01": 4}
    lookup = lambda words: [ids.get(word, -1) for word in words]  # noqa: E731
    try:
        plain = parse_plainly(block, 2, top=top, lookup=lookup)
    except BadLine as bad:
        with pytest.raises(BadLine) as found:
            FastParser(ids, lookup)(block, 2, top)
        assert (found.value.row, found.value.problem) == (bad.row, bad.problem)
        return
    fast = FastParser(ids, lookup)(block, 2, top)
    for one, other in ((fast.ids, plain.ids), (fast.log_probs, plain.log_probs), (fast.backoffs, plain.backoffs)):
        np.testing.assert_array_equal(one, other)
