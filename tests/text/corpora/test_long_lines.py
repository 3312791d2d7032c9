"""A line that must be held in memory has a longest length; plain text is streamed whatever its lines."""

import gzip
import json

import pytest

from chainrule.classifying.labeled import Layout, examples
from chainrule.errors import DataError
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.blocks import lines
from chainrule.text.options import TextOptions
from chainrule.vectors.files import read_text

LONG = "a" * (3 << 19)  # 1.5 MiB
FILES = {"a.jsonl": '{"text": "hay"}\n' + json.dumps({"text": LONG}) + "\n", "a.csv": f"text\n{LONG}\n",
         "a.tsv": f"text\n{LONG}\n", "a.conllu": f"# hay\n# {LONG}\n1\thay" + "\t_" * 8 + "\n"}


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.mark.parametrize("size", [100_000, 4 << 20])
@pytest.mark.parametrize("name", FILES)
def test_a_line_longer_than_allowed_is_refused_and_named(tmp_path, name, size):
    path = packed(tmp_path / f"{name}.gz", FILES[name])
    with pytest.raises(DataError) as error:
        list(open_corpus(path, TextOptions(longest_line=1)).chunks(size))
    assert str(error.value) == (f"{path}: line 2: longer than 1 MiB, expected one record a line. Or set "
                                "text.longest_line=2, if there is memory for it.")
    assert list(open_corpus(path, TextOptions(longest_line=2)).chunks(size))


def test_many_lines_in_quotes_are_bounded_too(tmp_path):
    path = packed(tmp_path / "a.csv.gz", 'text\n"' + "hay\n" * 500_000 + '"\n')
    with pytest.raises(DataError, match="a.csv.gz: line 2: not a row of a table .field larger than field limit"):
        list(open_corpus(path, TextOptions(longest_line=1)).chunks())
    assert list(open_corpus(path).chunks())


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_labeled_texts_are_bounded_too(tmp_path, name):
    path = packed(tmp_path / f"{name}.gz", FILES.get(name, f"hay\n__label__x {LONG}\n"))
    with pytest.raises(DataError, match="line 2: longer than 1 MiB"):
        list(examples(open_corpus(path).sources, Layout(longest_line=1), need_labels=False))


def test_a_packed_line_of_gigabytes_is_refused_before_it_fills_the_memory(tmp_path):
    """Each part of a .gz may follow another: 5,000 of a megabyte are 5 GB."""
    path, part = tmp_path / "a.jsonl.gz", gzip.compress(b"a" * (1 << 20))
    path.write_bytes(part * 5000)
    with pytest.raises(DataError, match="a.jsonl.gz: line 1: longer than 64 MiB"):
        next(iter(lines(path, size=4 << 20, errors="strict")))


def test_plain_text_may_have_lines_of_any_length(tmp_path):
    path = packed(tmp_path / "a.txt.gz", LONG * 3)
    chunks = open_corpus(path, TextOptions(longest_line=1)).chunks(1000)
    assert b"".join(chunk.data for chunk in chunks) == LONG.encode() * 3


def test_the_limit_changes_nothing_about_the_text():
    assert TextOptions(longest_line=10).digest() == TextOptions().digest()


@pytest.mark.parametrize("header", [True, False])
def test_a_file_of_vectors_with_a_vast_line_is_refused(tmp_path, monkeypatch, header):
    monkeypatch.setattr(read_text, "BLOCK", 1000)
    monkeypatch.setattr(read_text, "LONGEST_LINE", 3 << 20)
    path = packed(tmp_path / "a.vec.gz", "2 2\n" * header + "a 1 2\nb" + " " * (4 << 20))
    with pytest.raises(DataError, match="a.vec.gz: a line longer than 3 MiB, expected a word and numbers"):
        read_text.read_text(path, header=header)
