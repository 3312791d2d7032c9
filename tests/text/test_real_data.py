"""Public data sets, where they lie beside the repository: token counts that the papers report, and speed."""

import lzma
from pathlib import Path

import pytest
from texts import measured

from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.exists(), reason="the data sets are not here")]
WORDS = build("text/tokenizers", "words")


def test_penn_treebank_has_its_929589_and_82430_tokens():
    tokenizer, train = fit_and_encode(open_corpus(DATA / "ptb/ptb.train.txt.gz"), WORDS, TextOptions())
    test = encode(open_corpus(DATA / "ptb/ptb.test.txt.gz"), tokenizer, TextOptions())
    assert (len(train.ids), len(test.ids), tokenizer.vocabulary_size) == (929_589, 82_430, 9_999 + 3)
    assert not (test.ids == tokenizer.unknown).any()


def test_wikitext_2_has_its_2088628_tokens():
    options = TextOptions(blank_lines="keep")
    _, train = fit_and_encode(open_corpus(DATA / "wikitext-2/train.txt.gz", options), WORDS, options)
    assert len(train.ids) == 2_088_628


def test_byte_pairs_of_novels_give_the_text_back():
    corpus, options = open_corpus(DATA / "novels95/valid.txt.xz"), TextOptions()
    tokenizer, encoded = fit_and_encode(corpus, build("text/tokenizers", "byte_pair"), options)
    text = b"".join(chunk.data for chunk in corpus.chunks()).decode()
    assert tokenizer.decode(encoded.ids) == text
    assert encoded.lost == 0 and int(encoded.bytes.sum()) == len(text.encode())
    assert encoded.ids[:-1].tolist() == tokenizer.library.encode(text).ids


def test_thirteen_million_words_are_read_in_seconds_and_little_memory(tmp_path):
    text = tmp_path / "train.txt"
    text.write_bytes(lzma.decompress((DATA / "novels95/train.txt.xz").read_bytes()))
    tokens, seconds, megabytes = measured(text, "words", tmp_path)
    print(f"{tokens:,.0f} tokens in {seconds:.2f} s of CPU and {megabytes:.0f} MB")
    assert tokens == 13_808_520
    assert seconds < 8 and megabytes < 150  # 4 s on a quiet core
