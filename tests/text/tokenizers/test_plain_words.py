"""Words as a dictionary has them, from raw text."""

import pytest
from texts import corpus_of

from chainrule.recipe.registry import build
from chainrule.text.encoded import fit_and_encode
from chainrule.text.options import TextOptions
from chainrule.text.tokenizers.plain_words import plain


@pytest.mark.parametrize(("text", "words"), [
    ('The King\'s "Yes!"', ["the", "king's", "yes"]),
    ("rock 'n' roll, don''t", ["rock", "n", "roll", "don", "t"]),
    ("l\N{RIGHT SINGLE QUOTATION MARK}été; 3.14", ["l\N{RIGHT SINGLE QUOTATION MARK}été", "3", "14"]),
    ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
    ("snake_case—dash", ["snake", "case", "dash"]),
    ("--- ' \N{HOT BEVERAGE}", []),
])
def test_marks_around_words_are_left_out(text, words):
    assert plain(text) == words


def test_units_end_where_they_did_and_case_does_not_matter():
    text = "King, queen.\nQUEEN: king!\n"
    tokenizer, encoded = fit_and_encode(corpus_of(text), build("text/tokenizers", "plain_words"), TextOptions())
    king, queen = (int(tokenizer.encode(word)[0]) for word in ("king", "Queen"))
    assert list(encoded.ids) == [king, queen, tokenizer.end, queen, king, tokenizer.end]
    assert tokenizer.decode(encoded.ids) == "king queen queen king"
