"""Tagged sentences: treebanks and columns are read, and what is no tagged sentence is named with file and line."""

import gzip

import pytest

from chainrule.errors import DataError, OptionError
from chainrule.inputs.rows import fold, parted
from chainrule.inputs.tagged import checked_column, tagged
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

TREEBANK = """# sent_id = 1
# text = Don't stop
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\tSpaceAfter=No
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tstop\tstop\tVERB\tVB\tMood=Imp\t0\troot\t_\t_
3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t_\t_

1\t10 000\t10000\tNUM\tCD\t_\t0\troot\t_\t_
"""


def read(tmp_path, text, name="a.txt", column="auto", **options):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(tagged(open_corpus(path, TextOptions(**options)), column))


@pytest.mark.parametrize("column, tags", [
    ("auto", ("AUX", "PART", "VERB")), ("upos", ("AUX", "PART", "VERB")), ("xpos", ("VB", "RB", "VB")),
    ("feats", ("Mood=Imp", "_", "Mood=Imp")), ("8", ("aux", "advmod", "root"))])
def test_a_treebank_has_the_tags_of_the_column_that_is_named(tmp_path, column, tags):
    first, second = read(tmp_path, TREEBANK, "a.conllu", column)
    assert (first.words, first.tags, first.line) == (("Do", "n't", "stop"), tags, 4)
    assert second.words == ("10 000",), "a word may have a space"


def test_ranges_and_empty_nodes_are_no_words(tmp_path):
    assert sum(len(each.words) for each in read(tmp_path, TREEBANK, "a.conllu")) == 4


@pytest.mark.parametrize("text", [
    "The DET\ncow NOUN\n\nEat VERB\n", "The\tDET\ncow\tNOUN\n\t\nEat\tVERB",
    "\nThe DET\r\ncow NOUN\r\n \r\n\r\nEat VERB\r\n\r\n",
    "\ufeffThe DET\ncow NOUN\n\n\n# a comment about it\nEat VERB\n",
    "-DOCSTART- O\n\nThe DET\ncow NOUN\n\n-DOCSTART- -X- O\nEat VERB\n"])
def test_columns_may_be_separated_by_tabs_or_spaces_and_sentences_by_white_space(tmp_path, text):
    found = [(each.words, each.tags) for each in read(tmp_path, text)]
    assert found == [(("The", "cow"), ("DET", "NOUN")), (("Eat",), ("VERB",))]


def test_a_hash_may_be_a_word(tmp_path):
    [found] = read(tmp_path, "# O\n#1\tO\n")
    assert found.words == ("#", "#1")


def test_the_tag_is_in_the_last_column_or_in_the_one_that_is_named(tmp_path):
    text = "EU NNP B-NP I-ORG\nrejects VBZ B-VP O\n"
    assert read(tmp_path, text)[0].tags == ("I-ORG", "O") and read(tmp_path, text, column="2")[0].tags == ("NNP", "VBZ")


def test_packed_files_are_read(tmp_path):
    assert len(read(tmp_path, gzip.compress(TREEBANK.encode()), "a.conllu.gz")) == 2
    assert read(tmp_path, gzip.compress(b"cow\tNOUN\n"), "a.tsv.gz")[0].words == ("cow",)


def test_another_name_is_read_as_a_treebank_where_the_format_says_so(tmp_path):
    assert len(read(tmp_path, TREEBANK, "a.txt", format="conllu")) == 2


@pytest.mark.parametrize("name, text, column, words", [
    ("a.conllu", TREEBANK.replace("\tn't\tnot", "\tn't"), "auto",
     "a.conllu: line 5: 9 columns, expected the 10 of CoNLL-U"),
    ("a.conllu", TREEBANK.replace("2\tn't", "x\tn't"), "auto", "line 5: 'x' in the first column"),
    ("a.conllu", TREEBANK.replace("AUX", "_"), "auto",
     "line 4: the word 'Do' has no tag in the column UPOS. Try task.column=xpos"),
    ("a.conllu", TREEBANK, "11", "line 4: 10 columns, expected at least task.column = 11"),
    ("a.txt", "The DET\ncow\n", "auto",
     "a.txt: line 2: 1 column, expected 2 as in the lines before: a word without a tag?"),
    ("a.txt", "The DET\n\nold cow NOUN\n", "auto", "a.txt: line 3: 3 columns, expected 2 as in the lines before."),
    ("a.txt", "cow\n", "auto", "a.txt: line 1: 1 column, expected a word and its tag"),
    ("a.txt", "The\tDET\ncow\t\n", "auto", "a.txt: line 2: no tag, expected a word and its tag"),
    ("a.txt", "\tDET\n", "auto", "a.txt: line 1: no word, expected a word and its tag"),
    ("a.txt", "The DET\n", "3", "a.txt: line 1: 2 columns, expected at least task.column = 3"),
    ("a.txt", "The DET\n", "upos", "a.txt: task.column = upos is a column of CoNLL-U"),
    ("a.csv", "The,DET\n", "auto", "a.csv: tags are not read from .csv files")])
def test_what_is_wrong_is_named_with_file_and_line(tmp_path, name, text, column, words):
    with pytest.raises(DataError) as error:
        read(tmp_path, text, name, column)
    assert words in str(error.value)


def test_a_built_in_corpus_has_no_tags():
    with pytest.raises(DataError, match="pydoc: a built-in corpus has no tags, expected a file"):
        list(tagged(open_corpus("pydoc"), "auto"))


def test_an_empty_file_has_no_sentences(tmp_path):
    assert read(tmp_path, "") == [] == read(tmp_path, "\n \n# nothing at all\n")


@pytest.mark.parametrize("column", ["lemma", 0, -1, "1.5"])
def test_a_column_that_cannot_be(column):
    with pytest.raises(OptionError, match=r"task.column = .*, expected auto, upos, xpos, feats, or the number"):
        checked_column(column)


def test_parts_and_folds_are_of_whole_sentences(tmp_path):
    text = "".join(f"word{n} T{n}\nmore X\n\n" for n in range(20))
    (tmp_path / "a.txt").write_text(text)
    corpus = open_corpus(tmp_path / "a.txt")
    every = list(tagged(corpus, "auto"))
    train, held = (list(tagged(each, "auto")) for each in parted(corpus, 0.1, 3))
    assert len(held) == 2 and sorted(train + held, key=lambda each: each.line) == every
    folds = [list(tagged(fold(corpus, k, 4, 0)[1], "auto")) for k in range(4)]
    assert sorted((each for own in folds for each in own), key=lambda each: each.line) == every
