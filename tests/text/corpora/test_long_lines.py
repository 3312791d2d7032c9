"""A line that must be held in memory has a longest length; plain text is streamed whatever its lines."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chainrule.errors import DataError
from chainrule.inputs.labeled import Layout, examples
from chainrule.storage import files
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.blocks import lines
from chainrule.text.options import TextOptions
from chainrule.vectors.files import read_text

ROOT = Path(__file__).parents[3]
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
    with pytest.raises(DataError, match="a.csv.gz: line 2: longer than 1 MiB, expected one row a line, or in"):
        list(open_corpus(path, TextOptions(longest_line=1)).chunks())
    assert list(open_corpus(path).chunks())


def test_a_row_of_many_short_fields_in_quotes_is_bounded_too(tmp_path):
    path = packed(tmp_path / "a.csv.gz", "text\n" + '"a\n",' * 300_000)
    for read in (lambda: open_corpus(path, TextOptions(longest_line=1)).chunks(),
                 lambda: examples(open_corpus(path).sources, Layout(longest_line=1), need_labels=False)):
        with pytest.raises(DataError, match="a.csv.gz: line 2: longer than 1 MiB"):
            list(read())


def test_a_sentence_that_does_not_end_is_refused(tmp_path):
    path = packed(tmp_path / "a.conllu.gz", ("1\thay" + "\t_" * 8 + "\n\n") * 9 + "# \n" * 30_000)
    with pytest.raises(DataError, match="line 19: longer than 1 MiB, expected an empty line after each sentence"):
        list(open_corpus(path, TextOptions(longest_line=1)).chunks())
    assert list(open_corpus(path).chunks())


@pytest.mark.parametrize("id", ["x", "9" * 5000, "1-", "-1", "1-2-3", "é"])
def test_the_first_column_of_a_treebank_is_a_number(tmp_path, id):
    rest = "\thay" + "\t_" * 8 + "\n"
    (tmp_path / "a.conllu").write_text(f"1{rest}{id}{rest}")
    with pytest.raises(DataError, match="a.conllu: line 2: '.*' in the first column, expected a number"):
        list(open_corpus(tmp_path / "a.conllu").chunks())


def test_a_text_of_a_parquet_file_is_bounded(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    duckdb.execute(f"COPY (SELECT repeat('a', CASE i WHEN 7 THEN 3000000 ELSE 2 END) AS text FROM range(9) t(i)) "
                   f"TO '{tmp_path}/a.parquet' (FORMAT parquet)")
    with pytest.raises(DataError, match="a text of 3,000,000 bytes in the field 'text', expected at most 1 MiB. Or "
                                        "set text.longest_line=3,"):
        list(open_corpus(tmp_path / "a.parquet", TextOptions(longest_line=1)).chunks())
    assert len(list(open_corpus(tmp_path / "a.parquet", TextOptions(longest_line=3)).chunks())) == 9


def test_rows_of_a_parquet_file_that_are_read_together_are_bounded(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    duckdb.execute("COPY (SELECT repeat('a', 40000000) AS text FROM range(60)) "
                   f"TO '{tmp_path}/a.parquet' (FORMAT parquet)")
    with pytest.raises(DataError, match="rows that are read together do not fit into 2,048 MiB. Set "
                                        "text.longest_line=128"):
        list(open_corpus(tmp_path / "a.parquet").chunks())


def test_a_packed_file_of_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ANY_SIZE", 1 << 20)
    path = packed(tmp_path / "a.txt.gz", "hay\n" * (1 << 20))
    with pytest.raises(DataError, match=r"a.txt.gz: holds more than 500 times its size, expected packed text. Unpack "
                                        r"it first, if it is meant to be so large, or set text.expansion=1000\."):
        list(open_corpus(path).chunks())
    assert list(open_corpus(path, TextOptions(expansion=2000)).chunks())
    with pytest.raises(DataError, match=r"if it is meant to be so large\."), files.opened(path) as stream:
        stream.read()
    (tmp_path / "a.txt").write_text("hay\n" * (1 << 20))
    assert list(open_corpus(tmp_path / "a.txt").chunks())


def test_a_small_packed_file_may_hold_anything(tmp_path):
    assert list(open_corpus(packed(tmp_path / "a.txt.gz", "a" * 10_000_000)).chunks())


def test_the_expansion_changes_nothing_about_the_text():
    assert TextOptions(expansion=10).digest() == TextOptions().digest()
    assert TextOptions().expansion == files.EXPANSION  # models and vectors are bounded as texts are


HOSTILE = {  # up to some hundred megabytes each, of some hundred kilobytes
    "line.jsonl.gz": b"a", "text.csv.gz": b'"a\n",', "sentence.conllu.gz": b"# \n", "line.vec.gz": b"a",
    "blank.vec.gz": b"\n", "numbers.vec.gz": b"1 ", "line.arpa.gz": b"a"}
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from chainrule.cli.app import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_packed_files_end_with_one_line_in_bounded_memory(tmp_path, name):
    part = gzip.compress(HOSTILE[name] * ((1 << 20) // len(HOSTILE[name])))
    begin = b"text\n" if ".csv" in name else b"9 4\n" if ".vec" in name else b""
    parts = 60 if name.startswith("blank") else 300  # kept, 60 million empty lines would take more than 2 GiB
    (tmp_path / name).write_bytes(gzip.compress(begin) + part * parts + gzip.compress(b"x 1 2 3 4\n"))
    verb = ["import", name, "--out", "run"] if ".vec" in name or ".arpa" in name else [
        "train", "ngram", "--data", name, "--out", "run"]
    done = subprocess.run([sys.executable, "-c", LIMITED, *verb], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode in (1, 2) and done.stdout == "", done
    assert done.stderr.startswith("chainrule: ") and done.stderr.count("\n") == 1, done.stderr
    assert name in done.stderr and "out of memory" not in done.stderr and "bug" not in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


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
