"""Pairs: aligned files and tables give the same, and what is wrong is named with file and line."""

import gzip

import pytest

from chainrule.errors import DataError, UsageError
from chainrule.inputs.pairs import open_pairs, pairs_of
from chainrule.inputs.rows import fold, parted
from chainrule.text.options import TextOptions

NAMES = ("source", "target")


def read(data, target=None, columns=NAMES):
    return [(each.source.decode(), each.target.decode(), each.line)
            for each in pairs_of(open_pairs(data, target, columns, TextOptions()))]


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_files_and_tables_give_the_same_pairs(tmp_path):
    with gzip.open(tmp_path / "a.en.gz", "wt") as file:
        file.write("a cat\n\nit is said: \"no\"\r\n")
    written(tmp_path / "a.de", "eine Katze\n\nman sagt: \"nein\"\n")
    aligned = read(tmp_path / "a.en.gz", tmp_path / "a.de")
    assert aligned == [("a cat", "eine Katze", 1), ("", "", 2), ('it is said: "no"', 'man sagt: "nein"', 3)]
    rows = 'a cat\teine Katze\n\nit is said: "no"\tman sagt: "nein"\n'
    assert [row[:2] for row in read(written(tmp_path / "a.tsv", rows))] == [row[:2] for row in aligned if row[0]]
    headed = written(tmp_path / "b.tsv", "target\tid\tsource\neine Katze\t7\ta cat\n")
    assert read(headed) == [("a cat", "eine Katze", 2)]
    assert read(written(tmp_path / "c.csv", 'en,de\n"a, b",c\n'), columns=("en", "de")) == [("a, b", "c", 2)]
    assert read(tmp_path / "c.csv", columns=("2", "1")) == [("de", "en", 1), ("c", "a, b", 2)]
    assert read(written(tmp_path / "d.jsonl", '{"source": "a\\nb", "target": "c"}\n')) == [("a b", "c", 1)]


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.tsv", "one\ttwo\nthree\n", r"a.tsv: line 2: 1 column, expected at least 2"),
    ("a.csv", "source,target\na,b, c\n", r"a.csv: line 2: 3 columns, expected 2 as in line 1"),
    ("a.csv", 'one,"two\n', r"a.csv: line 1: not a row of a table"),
    ("a.jsonl", '{"source": "x"}\n', r"a.jsonl: line 1: no text in the field 'target'. Set task.source and"),
])
def test_errors_name_the_line(tmp_path, name, text, message):
    with pytest.raises(DataError, match=message):
        read(written(tmp_path / name, text))


def test_a_missing_column_is_named_with_a_suggestion(tmp_path):
    with pytest.raises(DataError, match=r"a.tsv: line 1: no column 'german'. Did you mean 'German'\? Set task.source"):
        read(written(tmp_path / "a.tsv", "English\tGerman\nx\ty\n"), columns=("English", "german"))


@pytest.mark.parametrize(("sources", "targets", "message"), [
    ("a\nb\nc\n", "x\n", r"a.en: 2 lines more than .*a.de, expected as many: line n of the one"),
    ("a\n", "x\ny\n", r"a.de: 1 line more than .*a.en"),
])
def test_unequal_line_counts_are_refused(tmp_path, sources, targets, message):
    with pytest.raises(DataError, match=message):
        read(written(tmp_path / "a.en", sources), written(tmp_path / "a.de", targets))


def test_sources_without_targets_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"a.en: no table, and no --target is given, expected the targets line by"):
        read(written(tmp_path / "a.en", "a\n"))
    with pytest.raises(UsageError, match="pydoc: a built-in corpus has no pairs"):
        read("pydoc", tmp_path / "a.en")


def test_parts_of_pairs_share_none_and_are_all(tmp_path):
    corpus = open_pairs(written(tmp_path / "a.tsv", "".join(f"s{n}\tt{n}\n" for n in range(57))), None, NAMES,
                        TextOptions())
    every = [each.source for each in pairs_of(corpus)]
    train, valid = parted(corpus, 0.2, seed=1)
    kept, held = ([each.source for each in pairs_of(part)] for part in (train, valid))
    assert sorted(kept + held) == sorted(every) and len(held) == 11 and train.fingerprint() != valid.fingerprint()
    folds = [[each.source for each in pairs_of(fold(corpus, k, 5, seed=3)[1])] for k in range(5)]
    assert sorted(sum(folds, [])) == sorted(every) and {len(each) for each in folds} <= {11, 12}
    rest = [each.source for each in pairs_of(fold(corpus, 2, 5, seed=3)[0])]
    assert sorted(rest + folds[2]) == sorted(every)
