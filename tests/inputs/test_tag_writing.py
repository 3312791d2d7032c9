"""What a tagger writes can be read again."""

import pytest

from chainrule.errors import OptionError
from chainrule.inputs.tag_writing import Untagged, columns, conllu, inline, treebank_sentences
from chainrule.inputs.tagged import tagged
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

LINES = """# sent_id = 7
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tX\tVB\t_\t2\taux\t_\tSpaceAfter=No
2\tn't\tnot\tX\tRB\t_\t0\troot\t_\t_

"""


def test_columns_are_a_tagged_file(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(columns(Untagged(words), tags) for words, tags in (
        (["The", "cow"], ["DET", "NOUN"]), (["Eat"], ["VERB"]))))
    found = [(each.words, each.tags) for each in tagged(open_corpus(tmp_path / "a.tsv"), "auto")]
    assert found == [(("The", "cow"), ("DET", "NOUN")), (("Eat",), ("VERB",))]


def test_a_tag_stands_behind_each_word():
    assert inline(Untagged(["The", "cow"]), ["DET", "NOUN"]) == "The/DET cow/NOUN\n"


def test_of_a_treebank_only_the_column_of_the_tags_changes(tmp_path):
    (tmp_path / "a.conllu").write_text(LINES)
    [found] = treebank_sentences(tmp_path / "a.conllu", TextOptions())
    assert found.words == ["Do", "n't"]
    assert conllu(found, ["AUX", "PART"], "auto") == LINES.replace("do\tX", "do\tAUX").replace("not\tX", "not\tPART")
    assert conllu(found, ["A", "B"], "xpos") == LINES.replace("VB", "A").replace("RB", "B")


def test_other_sentences_become_a_treebank_of_words_and_tags(tmp_path):
    (tmp_path / "a.conllu").write_text(conllu(Untagged(["A", "cow"], text="A cow"), ["DET", "NOUN"], "auto"))
    [found] = tagged(open_corpus(tmp_path / "a.conllu"), "upos")
    assert (found.words, found.tags, found.line) == (("A", "cow"), ("DET", "NOUN"), 2)
    assert (tmp_path / "a.conllu").read_text().startswith("# text = A cow\n1\tA\t_\tDET\t_")


@pytest.mark.parametrize("column", ["1", "2", "11"])
def test_words_are_never_overwritten(column):
    with pytest.raises(OptionError, match="task.column = .*, expected a column of CoNLL-U"):
        conllu(Untagged(["A"]), ["X"], column)
