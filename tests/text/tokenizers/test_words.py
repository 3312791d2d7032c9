"""Words: fast code against the definition, and the spellings that clash with marks."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import corpus_of, lines_by_hand

from chainrule.errors import DataError, OptionError
from chainrule.recipe.registry import build
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions
from chainrule.text.units import stretches

OPTIONS = TextOptions()
TEXT = st.text(st.sampled_from("aab  \n\t\0é\u00a0\u2028<unk>"), max_size=32).filter(lambda t: lines_by_hand(t))


def words_of(line):
    """KenLM's words: between ASCII white space or NUL."""
    for space in "\0\t\v\f\r":
        line = line.replace(space, " ")
    return [word for word in line.split(" ") if word]


def by_the_definition(text, min_count, size):
    """Vocabulary by count and spelling, then every word looked up."""
    lines = [words_of(line) for line in lines_by_hand(text)]
    counts = Counter(word for line in lines for word in line)
    kept = sorted((word for word in counts if counts[word] >= min_count), key=lambda w: (-counts[w], w.encode()))
    number = {word: id for id, word in enumerate(kept[: size and size - 3], start=3)}
    return list(number), [id for line in lines for id in [*(number.get(word, 0) for word in line), 2]]


@settings(max_examples=60)
@given(text=TEXT, min_count=st.integers(1, 3), size=st.none() | st.integers(4, 6))
def test_agrees_with_the_definition(text, min_count, size):
    vocabulary, ids = by_the_definition(text, min_count, size)
    trainer = build("text/tokenizers", {"name": "words", "min_count": min_count, "size": size})
    tokenizer, encoded = fit_and_encode(corpus_of(text), trainer, OPTIONS)
    assert [tokenizer.token(id) for id in range(3, tokenizer.vocabulary_size)] == vocabulary
    assert encoded.ids.tolist() == ids
    assert encode(corpus_of(text), tokenizer, OPTIONS).ids.tolist() == ids
    assert trainer.train(corpus_of(text), OPTIONS).digest() == tokenizer.digest()


@given(text=TEXT, size=st.integers(4, 30))
def test_words_that_a_chunk_cuts_are_whole(text, size):
    tokenizer = build("text/tokenizers", "words").train(corpus_of(text), OPTIONS)
    stream = tokenizer.stream(stretches(corpus_of(text), "line", OPTIONS, size), corpus_of(text), OPTIONS)
    assert np.concatenate(list(stream)).tolist() == by_the_definition(text, 1, None)[1]


def test_the_vocabulary_does_not_depend_on_the_order_of_the_text():
    lines = ["b a a", "c b", "é d"]
    tokenizers = [build("text/tokenizers", "words").train(corpus_of("\n".join(order)), OPTIONS)
                  for order in (lines, lines[::-1])]
    assert tokenizers[0].digest() == tokenizers[1].digest()
    assert [tokenizers[0].token(id) for id in range(8)] == ["<unk>", "<s>", "</s>", "a", "b", "c", "d", "é"]


def test_no_break_space_and_line_separator_are_part_of_words():
    tokenizer, encoded = fit_and_encode(corpus_of("a\u00a0b c\u2028d\n"), build("text/tokenizers", "words"), OPTIONS)
    assert encoded.ids.tolist() == [3, 4, 2]
    assert tokenizer.token(3) == "a\u00a0b"


def test_carriage_return_before_line_feed_is_white_space():
    tokenizer, encoded = fit_and_encode(corpus_of(b"a b\r\n\r\nb\r\n"), build("text/tokenizers", "words"), OPTIONS)
    assert encoded.ids.tolist() == [4, 3, 2, 3, 2]


def test_unk_in_the_text_is_an_ordinary_word():
    tokenizer, encoded = fit_and_encode(corpus_of("<unk> of <unk>\n"), build("text/tokenizers", "words"), OPTIONS)
    assert encoded.ids.tolist() == [3, 4, 3, 2]
    assert tokenizer.token(0) == "<unknown>" and tokenizer.token(3) == "<unk>"
    assert tokenizer.encode("never <unk>").tolist() == [0, 3]
    both = build("text/tokenizers", "words").train(corpus_of("<unk> <unknown> hay"), OPTIONS)
    assert both.token(0) not in ("<unk>", "<unknown>", "hay")


@pytest.mark.parametrize("mark", ["<s>", "</s>"])
def test_a_mark_in_the_text_is_named_by_file_and_line(mark):
    corpus = corpus_of(f"one {mark}x y\ntwo\nthree {mark} four\n")
    with pytest.raises(DataError, match=rf"one\.txt: line 3: the text has the word {mark}, .*Set text\.marks=drop"):
        fit_and_encode(corpus, build("text/tokenizers", "words"), OPTIONS)
    tokenizer = build("text/tokenizers", "words").train(corpus_of("hay"), OPTIONS)
    with pytest.raises(DataError, match="line 3"):
        encode(corpus, tokenizer, OPTIONS)


def test_marks_are_taken_out_when_asked():
    options = TextOptions(marks="drop")
    corpus = corpus_of("<s> hay </s>\ncorn hay\n")
    _, encoded = fit_and_encode(corpus, build("text/tokenizers", "words"), options)
    assert encoded.ids.tolist() == [3, 2, 4, 3, 2]
    assert encoded.ends.tolist() == [2, 5]


def test_encoding_a_prompt_reads_marks_as_unknown_words():
    tokenizer = build("text/tokenizers", "words").train(corpus_of("hay"), OPTIONS)
    assert tokenizer.encode("<s> hay </s> corn").tolist() == [0, 3, 0, 0]
    assert tokenizer.decode(np.array([1, 3, 0, 2])) == "hay <unk>"


@pytest.mark.parametrize("options, message", [
    ({"min_count": 0}, r"words\.min_count = 0, expected at least 1"),
    ({"size": 3}, r"words\.size = 3, expected more than 3"),
])
def test_options_that_leave_no_word_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        build("text/tokenizers", {"name": "words", **options})


def test_a_very_long_line_and_a_very_long_word_are_read():
    long = b"x" * (3 << 20) + b" " + b"hay corn " * (1 << 18) + b"\nend\n"
    tokenizer, encoded = fit_and_encode(corpus_of(long), build("text/tokenizers", "words"), OPTIONS)
    assert len(encoded.ids) == 1 + 2 * (1 << 18) + 1 + 2
    assert encoded.bytes.tolist() == [len(long) - 4, 4]
    assert len(tokenizer.token(int(encoded.ids[0]))) == 3 << 20
