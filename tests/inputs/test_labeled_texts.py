"""Reading labeled texts: three layouts give the same, and what is wrong is named with its line."""

import gzip

import pytest

from chainrule.errors import DataError
from chainrule.inputs.labeled import Layout, examples
from chainrule.text.corpora import open_corpus


def read(path, **layout):
    return [(each.labels, each.text.decode(), each.line) for each in examples(open_corpus(path).sources,
                                                                               Layout(**layout))]


def test_lines_csv_and_tsv_say_the_same(kinds_folder):
    lines, commas, tabs = (read(kinds_folder / f"train.{ending}") for ending in ("txt", "csv", "tsv"))
    assert [row[:2] for row in lines] == [row[:2] for row in commas] == [row[:2] for row in tabs]
    assert len(lines) == 400 and lines[0][2] == 1 and commas[0][2] == 2


def test_labels_may_be_several_and_stand_anywhere(tmp_path):
    (tmp_path / "a.txt").write_text("__label__x __label__y one two\nthree __label__z four\n\n__label__x\ttab\n")
    assert read(tmp_path / "a.txt") == [(("x", "y"), "one two", 1), (("z",), "three four", 2), (("x",), "tab", 4)]
    (tmp_path / "b.txt").write_text("#x one\n#y two\r\n")
    assert read(tmp_path / "b.txt", prefix="#") == [(("x",), "one", 1), (("y",), "two\r", 2)]


def test_tables_without_header_packed_and_with_several_labels(tmp_path):
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as file:
        file.write('x;y\t"one" two\nz\tthree\n')
    assert read(tmp_path / "a.tsv.gz", label="1", text="2", separator=";") == [
        (("x", "y"), '"one" two', 1), (("z",), "three", 2)]


def test_quoted_fields_may_hold_line_ends(tmp_path):
    (tmp_path / "a.csv").write_text('text,label\n"one\ntwo, three",x\nfour,y\n')
    assert read(tmp_path / "a.csv") == [(("x",), "one two, three", 2), (("y",), "four", 4)]


def test_empty_rows_and_cells_behind_the_last_column_are_no_texts(tmp_path):
    (tmp_path / "a.csv").write_text("\ufefflabel,text\nx,one\n\n,\ny,two,,\n , \n", encoding="utf-8")
    assert read(tmp_path / "a.csv") == [(("x",), "one", 2), (("y",), "two", 5)]


def test_json_lines_hold_one_label_or_a_list(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": 3, "text": "one"}\n{"label": ["x", "y"], "text": "two"}\n')
    assert read(tmp_path / "a.jsonl") == [(("3",), "one", 1), (("x", "y"), "two", 2)]


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.txt", "__label__x one\nno label here\n", r"a.txt: line 2: no label, expected a word that begins with"),
    ("a.txt", "__label__x one\n__label__y   \n", r"a.txt: line 2: a label without a text"),
    ("a.csv", "label,text\nx,one\ny\n", r"a.csv: line 3: 1 column, expected at least 2"),
    ("a.csv", "label,text\nx,one, two\n", r"a.csv: line 2: 3 columns, expected 2 as in line 1. Put a text with a "),
    ("a.tsv", "label\ttext\nx\tone\ttwo\n", r"a.tsv: line 2: 3 columns, expected 2 as in line 1. Take tabs out"),
    ("a.csv", 'label,text\nx,"one\n', r"a.csv: line 2: not a row of a table"),
    ("a.tsv", "label\ttext\nx\tone\ttwo\n", r"a.tsv: line 2: 3 columns, expected 2 as in line 1. Take tabs out"),
    ("a.csv", "lable,text\nx,one\n", r"a.csv: line 1: no column 'label'. Did you mean 'lable'\? Set task.labels"),
    ("a.csv", "label,text\n,one\n", r"a.csv: line 2: no label, expected one in the field 'label'"),
    ("a.jsonl", '{"text": "one"}\n', r"a.jsonl: line 1: no field 'label'"),
    ("a.jsonl", "one\n", r"a.jsonl: line 1: not JSON"),
    ("a.conllu", "1\tone\n", r"a.conllu: labels are not read from .conllu files"),
])
def test_errors_name_the_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / name)


def test_empty_cells_behind_the_last_column_are_no_error(tmp_path):
    """Spreadsheets write them; and a table without header has no width to keep."""
    (tmp_path / "a.csv").write_text("label,text\nx,one,,\n\ny,two\n")
    assert read(tmp_path / "a.csv") == [(("x",), "one", 2), (("y",), "two", 4)]
    (tmp_path / "b.csv").write_text("x,one,more\ny,two\n")
    assert read(tmp_path / "b.csv", label="1", text="2") == [(("x",), "one", 1), (("y",), "two", 2)]


def test_a_built_in_corpus_has_no_labels():
    with pytest.raises(DataError, match="pydoc: a built-in corpus has no labels"):
        read("pydoc")
