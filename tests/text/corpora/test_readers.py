"""Every kind of file becomes the same stream of chunks."""

import csv
import gzip
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import corpus_of, text_of

from chainrule.errors import DataError
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.corpus import documents
from chainrule.text.options import TextOptions

TEXTS = ["the cows eat grass\nand hay\n", "naïve café ☕", "", 'a "quoted" cell, with comma\tand more']


def read(path, **options):
    return [document.text() for document in documents(open_corpus(path, TextOptions(**options)))]


def test_a_text_file_is_one_document(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert read(tmp_path / "a.txt") == ["one\ntwo\n"]


def packed_zst(data):
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd.compress(data)


@pytest.mark.parametrize("suffix, pack", [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", packed_zst)])
def test_packed_files_read_like_plain_ones(tmp_path, suffix, pack):
    text = "grüße\n" * 10_000
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack(text.encode()))
    assert read(path) == [text]


@pytest.mark.parametrize("suffix, pack", [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", packed_zst)])
def test_a_cut_packed_file_is_refused_with_its_name(tmp_path, suffix, pack):
    path = tmp_path / f"a.txt{suffix}"
    whole = pack("".join(f"line {i * i}\n" for i in range(50_000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=rf"a\.txt\{suffix}: the \{suffix} file was cut: it ends too early"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_that_is_not_packed_as_its_name_says_is_refused(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    path.write_text("plain text, under a wrong name\n" * 100)
    with pytest.raises(DataError, match=rf"a\.txt\{suffix}: .* damaged"):
        read(path)


def test_a_packed_file_under_a_plain_name_is_named_for_what_it_is(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"text " * 1000))
    with pytest.raises(DataError, match=r"a\.txt: this is a gzip \(\.gz\) file, expected text"):
        read(path)


def test_each_json_line_is_a_document(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": 1, "text": text}) for text in TEXTS) + "\n\n")
    assert read(path) == TEXTS


def test_json_lines_are_read_without_duckdb(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "hay"}\n')
    code = ("import sys; sys.modules['duckdb'] = None\n"
            "from chainrule.text.corpora import open_corpus\nfrom chainrule.text.options import TextOptions\n"
            f"print(next(open_corpus({str(path)!r}, TextOptions(field='body')).chunks()).data)")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "b'hay'\n"


@pytest.mark.parametrize("line, message", [
    ('{"text": ', "a.jsonl: line 2: not JSON"),
    ("[" * 200_000, "a.jsonl: line 2: JSON nested too deep, expected one object a line"),
    ("[1, 2]", "a.jsonl: line 2: a JSON list, expected an object with the field 'text'"),
    ('{"txt": "hay"}', r"a.jsonl: line 2: no field 'text'. Did you mean 'txt'\? Set text.field"),
    ('{"text": null}', "a.jsonl: line 2: the field 'text' is None, expected text"),
    (r'{"text": "\ud800"}', "a.jsonl: line 2: character 0 of the field 'text' is half a surrogate pair"),
])
def test_a_bad_json_line_is_named(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(DataError, match=message):
        read(path)


def test_a_table_is_read_by_column_name(tmp_path):
    for name, dialect in [("a.csv", "excel"), ("a.tsv", None)]:
        texts = TEXTS if dialect else [text.replace("\n", " ").replace("\t", " ") for text in TEXTS]
        with (tmp_path / name).open("w", newline="") as stream:
            if dialect:
                csv.writer(stream, dialect).writerows([["id", "text"], *([i, t] for i, t in enumerate(texts))])
            else:
                stream.writelines(["id\ttext\n", *(f"{i}\t{t}\n" for i, t in enumerate(texts))])
        assert read(tmp_path / name) == texts


def test_a_table_without_header_is_read_by_column_number(tmp_path):
    (tmp_path / "a.tsv").write_text('1\t"Good\n0\tbad\n')
    assert read(tmp_path / "a.tsv", field="2") == ['"Good', "bad"]


def test_a_table_says_which_columns_it_has(tmp_path):
    (tmp_path / "a.csv").write_text("id,body\n1,hay\n")
    with pytest.raises(DataError, match=r"a\.csv: line 1: no field 'text'\. Known: body, id\. Set text\.field"):
        read(tmp_path / "a.csv")


def test_a_short_row_is_named(tmp_path):
    (tmp_path / "a.csv").write_text('id,text\n1,"two\nlines"\n2\n')
    with pytest.raises(DataError, match=r"a\.csv: line 4: 1 column, expected at least 2"):
        read(tmp_path / "a.csv")


def test_parquet_is_read_by_column_name(tmp_path):
    import duckdb

    path = tmp_path / "a.parquet"
    duckdb.execute("CREATE TABLE t (id INT, body VARCHAR)")
    duckdb.executemany("INSERT INTO t VALUES (?, ?)", [[i, text] for i, text in enumerate(TEXTS * 300)])
    duckdb.execute(f"COPY t TO '{path}'")
    assert read(path, field="body") == TEXTS * 300
    with pytest.raises(DataError, match=r"a\.parquet: no field 'text'"):
        read(path)


def test_a_broken_parquet_file_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"a\.parquet: not a readable Parquet file"):
        read(tmp_path / "a.parquet")


CONLLU = """# newdoc id = one
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\t_\t_\t_\t_\t_\t_\t_
2\tn't\tnot\t_\t_\t_\t_\t_\t_\t_
3\tgo\tgo\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
4\t.\t.\t_\t_\t_\t_\t_\t_\t_
"""


def test_a_treebank_gives_its_text_lines(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(f"{CONLLU}\n{CONLLU}\n")
    assert read(path) == ["Don't go.\n", "Don't go.\n"]


def test_a_treebank_without_text_lines_gives_its_words(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU.replace("# text = Don't go.\n", "").replace("# newdoc id = one\n", "") + "\n" + CONLLU)
    assert read(path) == ["Don't go.\n", "Don't go.\n"]
    path.write_text("1\tDo\n")
    with pytest.raises(DataError, match=r"a\.conllu: line 1: 2 columns, expected the 10 of CoNLL-U"):
        read(path)


@given(text=st.text(st.characters(codec="utf-8"), max_size=32), size=st.integers(4, 30))
def test_chunks_put_together_are_the_text_however_it_is_cut(text, size):
    corpus = corpus_of(text)
    chunks = list(corpus.chunks(size))
    whole = text.encode().removeprefix(b"\xef\xbb\xbf")
    assert b"".join(chunk.data for chunk in chunks) == whole
    assert all(chunk.data.decode() is not None for chunk in chunks)
    assert [chunk.ends_document for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    position = 0
    for chunk in chunks:
        assert chunk.line == 1 + whole[:position].count(b"\n")
        position += len(chunk.data)


def test_a_chunk_ends_with_a_line_unless_the_line_is_longer():
    chunks = [chunk.data for chunk in corpus_of("one two\nthree four\n" + "x" * 40 + "\nfive\n").chunks(20)]
    assert chunks[0] == b"one two\nthree four\n"
    assert any(not data.endswith(b"\n") for data in chunks)


def test_a_byte_order_mark_is_not_text():
    assert text_of(corpus_of(b"\xef\xbb\xbfhay\n")) == b"hay\n"
