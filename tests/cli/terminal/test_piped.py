"""Texts on the command line: several are lines of one text, options are told apart, and a file stands alone."""

import pytest

from chainrule.cli.terminal.piped import texts_and_options
from chainrule.errors import UsageError


def test_texts_that_follow_a_text_are_its_further_lines():
    assert texts_and_options("heavy rain", ["a goal", "text.errors=replace", "x = y"]) == (
        "heavy rain\na goal\nx = y", ["text.errors=replace"])


def test_a_file_alone_may_have_options(tmp_path):
    file = tmp_path / "texts"
    file.write_text("heavy rain\n")
    assert texts_and_options(str(file), ["text.field=body"]) == (str(file), ["text.field=body"])


@pytest.mark.parametrize("words", [("{}", "a goal"), ("a goal", "{}"), ("-", "a goal"), ("a goal", "no-such.csv")])
def test_a_file_beside_texts_is_refused(words, tmp_path):
    file = tmp_path / "texts"
    file.write_text("heavy rain\n")
    first, *more = (word.format(file) for word in words)
    with pytest.raises(UsageError, match="a file beside other texts, expected one file, or texts alone"):
        texts_and_options(first, more)
