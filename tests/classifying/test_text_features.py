"""Words and n-grams as rows: the kernel equals plain Python, and both equal fastText."""

import numpy as np
import pytest

from chainrule.classifying.features import Features, Shape
from chainrule.classifying.reference import ngram_buckets, word_hashes, words_of
from chainrule.classifying.vocabulary import learn_features

TEXTS = [b"the cat sat on the mat", "naïve 日本語 the où".encode(), b"", b"a\tb\x00c  a", b"the </s> <unk> end", b"mat"]
SHAPES = [Shape(), Shape(3, bucket=97), Shape(2, bucket=1 << 20), Shape(2, 2, 4, 101), Shape(1, 3, 6, 5000)]


def as_sets(bags):
    pairs = zip(bags.starts[:-1], bags.starts[1:], bags.sizes, strict=True)
    return [(dict(zip(bags.members[low:high].tolist(), bags.weights[low:high].tolist(), strict=True)), float(size))
            for low, high, size in pairs]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_kernel_equals_plain_python(shape, monkeypatch):
    features, learned, words = learn_features(TEXTS, shape, min_count=1, size=None)
    assert words == sum(len(words_of(text)) for text in TEXTS)
    assert as_sets(learned) == as_sets(features.plain_bags(TEXTS))
    unseen = [b"the dog sat on a log", *TEXTS[1:], b"never seen"]
    plain = as_sets(features.plain_bags(unseen))
    monkeypatch.setattr("chainrule.classifying.features.JIT_PAYS_FROM", 0)
    assert as_sets(features.bags(unseen)) == plain
    cut = Features(features.words[::2], features.used[::2], shape, cut=True)
    assert as_sets(cut.bags(unseen)) == as_sets(cut.plain_bags(unseen))


def test_an_unseen_bucket_counts_as_zeros_and_one_cut_off_does_not_count():
    features, _, _ = learn_features([b"a b", b"b c"], Shape(2, bucket=1000), min_count=1, size=None)
    unseen = [b"c a"]  # the bigrams "c a" and "a </s>" are new
    assert as_sets(features.plain_bags(unseen))[0][1] == 5
    cut = Features(features.words, features.used, features.shape, cut=True)
    assert as_sets(cut.plain_bags(unseen))[0][1] == 3


def test_rare_words_have_no_row_but_take_part_in_ngrams():
    features, bags, _ = learn_features([b"a a b", b"a c"], Shape(2, bucket=1000), min_count=2, size=None)
    assert list(features.words) == [b"a"] and bags.sizes.tolist() == [2 + 1 + 3, 1 + 1 + 2]
    features, _, _ = learn_features([b"a a b b c"], Shape(), min_count=1, size=2)
    assert list(features.words) == [b"a", b"b"]


@pytest.mark.parametrize(("ngrams", "min_n", "max_n"), [(1, 0, 0), (3, 0, 0), (2, 3, 5)])
def test_rows_of_a_text_are_those_of_fasttext(tmp_path, ngrams, min_n, max_n):
    """fastText's vector of a sentence is the mean of the rows that it finds: with ours it must be the same."""
    fasttext = pytest.importorskip("fasttext")
    text = "".join(f"__label__{'xy'[n % 2]} the naïve cat 日本語 où {'sat' if n % 3 else 'ran'} on n{n % 7}\n"
                   for n in range(300))
    (tmp_path / "train.txt").write_text(text)
    model = fasttext.train_supervised(str(tmp_path / "train.txt"), wordNgrams=ngrams, minn=min_n, maxn=max_n,
                                      bucket=997, dim=7, epoch=1, thread=1, verbose=0)
    words = [word for word in model.get_words() if word != "</s>"]
    ours = Features([word.encode() for word in words], np.arange(Shape(ngrams, min_n, max_n, 997).hashed),
                    Shape(ngrams, min_n, max_n, 997))
    places = [model.get_word_id(word) for word in ["</s>", *words]] + list(range(len(words) + 1, ours.rows))
    table = model.get_input_matrix()[places]
    for sentence in ("the cat sat", "où 日本語 unseen n3 on on", "Ω"):
        bags = ours.plain_bags([sentence.encode()])
        vector = bags.weights @ table[bags.members] / max(bags.sizes[0], 1)
        np.testing.assert_allclose(vector, model.get_sentence_vector(sentence), atol=1e-6)


def test_the_hash_of_an_ngram_by_hand():
    """h(a b) = h(a) · 116049371 + h(b) with signed 32-bit hashes: a's is negative."""
    a, b = word_hashes([b"a", b"b"])
    assert a >= 1 << 31
    assert ngram_buckets([a, b], 2, 10**9) == [((a - 2**32) * 116049371 + (b - 2**32)) % 2**64 % 10**9]


@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
def test_neither_threads_nor_blocks_change_the_features(shape, monkeypatch):
    rng = np.random.default_rng(0)
    texts = [b" ".join(b"w%d" % word for word in rng.zipf(1.5, rng.integers(1, 40)) % 300) for _ in range(200)]
    one, bags, words = learn_features(texts, shape, min_count=2, size=None)
    monkeypatch.setattr("chainrule.classifying.spelling.BLOCK", 500)
    for threads in (1, 3):
        many, again, counted = learn_features(iter(texts), shape, min_count=2, size=None, threads=threads)
        assert list(many.words) == list(one.words) and counted == words
        np.testing.assert_array_equal(many.used, one.used)
        for name in ("starts", "members", "weights", "sizes"):
            np.testing.assert_array_equal(getattr(again, name), getattr(bags, name))
    assert as_sets(again) == as_sets(one.plain_bags(texts))


def test_a_word_that_fills_a_text_is_counted_past_a_byte(monkeypatch):
    text = b"a " * 1000 + b"b"
    features, bags, _ = learn_features([text, b"b"], Shape(), min_count=1, size=None)
    for found in (bags, features.plain_bags([text, b"b"])):
        own = slice(0, found.starts[1])
        assert found.weights[own][found.members[own] == 1].sum() == 1000 and found.sizes.tolist() == [1002, 2]


def test_a_text_that_fails_while_it_is_read_ends_the_threads():
    def texts():
        yield b"a b"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        learn_features(texts(), Shape(), min_count=1, size=None, threads=2)
