"""The store: look-up, search and analogies against plain NumPy."""

import numpy as np
import pytest

from chainrule.errors import DataError, UsageError
from chainrule.vectors import search, sentences
from chainrule.vectors.queries import UnknownWord
from chainrule.vectors.store import Vectors

WORDS = [f"w{i}" for i in range(300)]


@pytest.fixture
def vectors(rng_table):
    return Vectors(WORDS, rng_table, counts=np.arange(300, 0, -1))


@pytest.fixture
def rng_table():
    return np.random.default_rng(0).normal(size=(300, 7)).astype(np.float32)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_a_word_gives_its_row_and_several_words_their_rows(vectors, rng_table):
    np.testing.assert_array_equal(vectors["w7"], rng_table[7])
    np.testing.assert_array_equal(vectors[["w7", "w2"]], rng_table[[7, 2]])
    assert "w7" in vectors and "x" not in vectors and len(vectors) == 300 and list(vectors) == WORDS


def test_an_unknown_word_is_named_with_a_suggestion(vectors):
    with pytest.raises(UnknownWord, match=r"^w7x: none of the 300 words that have a vector. Did you mean 'w7'\?$"):
        vectors["w7x"]
    with pytest.raises(KeyError):
        vectors.most_similar("nothing of the kind")
    with pytest.raises(UnknownWord, match="^'': none of the 300 words"):
        vectors[""]


@pytest.mark.parametrize(("asked", "taken"), [("King", "king"), ("KING", "king"), ("nasa", "NASA"),
                                              ("new york", "New_York"), ("New York", "New_York"), ("us", "US"),
                                              ("san  francisco", "san_francisco"), ("Us", "US"), ("paris", "Paris")])
def test_searches_take_another_case_or_the_phrase_and_say_so(rng_table, caplog, asked, taken):
    words = ["king", "New_York", "US", "us.", "NASA", "san_francisco", "Paris", "PARIS", "queens"]
    vectors = Vectors(words, rng_table[: len(words)])
    with caplog.at_level("INFO", logger="chainrule"):
        found = vectors.most_similar(asked)
    assert found == vectors.most_similar(taken) and taken not in dict(found)
    assert caplog.messages == [f"no {asked!r}, taking {taken!r}."]
    assert vectors.similarity(asked, "queens") == vectors.similarity(taken, "queens")
    assert vectors.analogy("queens", asked, "us.") == vectors.analogy("queens", taken, "us.")
    assert vectors.most_similar_cosmul([asked], "us.") == vectors.most_similar_cosmul([taken], "us.")
    with pytest.raises(UnknownWord, match=f"Did you mean '{taken}'?"):
        vectors[asked]  # looking up a word gives that word's vector or none


@pytest.mark.parametrize("asked", ["kings", "queen", "new yorks", "", " ", "_"])
def test_another_word_is_never_taken(rng_table, asked):
    vectors = Vectors(["king", "queens", "new_york"], rng_table[:3])
    with pytest.raises(UnknownWord):
        vectors.most_similar(asked)


@pytest.mark.parametrize("block", [64, 1 << 16])
def test_the_nearest_words_are_the_nearest(vectors, rng_table, block, monkeypatch):
    monkeypatch.setattr(search, "BLOCK", block)
    units = unit(rng_table)
    aim = units[3] + units[5] - units[8]
    scores = units @ (aim / np.linalg.norm(aim))
    scores[[3, 5, 8]] = -2
    found = vectors.most_similar(["w3", "w5"], ["w8"], topn=12)
    assert [word for word, _ in found] == [f"w{i}" for i in np.argsort(-scores)[:12]]
    np.testing.assert_allclose([score for _, score in found], np.sort(scores)[::-1][:12], rtol=1e-5)


def test_a_search_can_be_kept_to_frequent_words_and_begin_at_a_vector(vectors, rng_table):
    found = vectors.most_similar(rng_table[250], topn=300, restrict_vocab=20)
    assert {word for word, _ in found} == set(WORDS[:20])
    assert vectors.most_similar(rng_table[250], topn=1)[0] == ("w250", pytest.approx(1))
    with pytest.raises(UsageError, match="restrict_vocab = 0, expected at least 1"):
        vectors.most_similar("w1", restrict_vocab=0)


def test_the_two_ways_of_analogy_are_their_formulas(vectors, rng_table):
    units = unit(rng_table)
    a, b, c = units[[1, 2, 3]]
    add = units @ (b - a + c)
    mul = (1 + units @ b) / 2 * (1 + units @ c) / 2 / ((1 + units @ a) / 2 + 0.001)
    for method, scores in (("3CosAdd", add), ("3CosMul", mul), ("3cosmul", mul)):
        scores[[1, 2, 3]] = -9
        assert vectors.analogy("w1", "w2", "w3", topn=1, method=method)[0][0] == f"w{scores.argmax()}"
    with pytest.raises(UsageError, match="method = '3CosDiv', expected '3CosAdd' or '3CosMul'"):
        vectors.analogy("w1", "w2", "w3", method="3CosDiv")


def test_similarity_and_the_odd_one_out():
    vectors = Vectors(["north", "northish", "south"], np.array([[0, 1], [0.1, 1], [0, -3]], np.float32))
    assert vectors.similarity("north", "south") == pytest.approx(-1)
    assert vectors.doesnt_match(["north", "south", "northish"]) == "south"


def test_words_without_a_vector_are_left_out_of_the_odd_one_out_and_named(caplog):
    vectors = Vectors(["north", "northish", "south"], np.array([[0, 1], [0.1, 1], [0, -3]], np.float32))
    assert vectors.doesnt_match(["north", "yonder", "south", "northish"]) == "south"
    assert "doesnt_match leaves out words that have no vector: yonder." in caplog.text
    with pytest.raises(UsageError, match="doesnt_match has 1 words with a vector, expected at least 2"):
        vectors.doesnt_match(["north", "yonder"])
    with pytest.raises(UsageError, match="is one text, expected a list of words"):
        vectors.doesnt_match("north south")


def test_methods_of_gensim_have_the_same_names(vectors, rng_table):
    keyed = pytest.importorskip("gensim.models").KeyedVectors(7)
    keyed.add_vectors(WORDS, rng_table)
    assert list(vectors.index_to_key) == keyed.index_to_key and vectors.key_to_index == keyed.key_to_index
    assert vectors.vector_size == keyed.vector_size == 7
    np.testing.assert_allclose(vectors.get_vector("w3", norm=True), keyed.get_vector("w3", norm=True), rtol=1e-6)
    np.testing.assert_array_equal(vectors.get_vector("w3"), keyed.get_vector("w3"))
    assert vectors.distance("w1", "w2") == pytest.approx(keyed.distance("w1", "w2"), abs=1e-6)
    groups = ["w1", "w2"], ["w3", "w4", "w5"]
    assert vectors.n_similarity(*groups) == pytest.approx(keyed.n_similarity(*groups), abs=1e-6)
    for ask in (lambda each: each.most_similar(["w1", ("w2", 0.25), ("w3", -2.0)], ["w4"], topn=20),
                lambda each: each.most_similar_cosmul(positive=["w1", "w2"], negative=["w3"], topn=1),
                lambda each: each.most_similar_cosmul("w1", topn=20),
                lambda each: each.most_similar(positive=[rng_table[9]], topn=20, restrict_vocab=100)):
        assert [word for word, _ in ask(vectors)] == [word for word, _ in ask(keyed)]


def test_a_query_that_is_no_word_or_vector_is_refused(vectors):
    with pytest.raises(UsageError, match="asked for 5, expected a word, a vector, or a list of them"):
        vectors.most_similar(5)
    with pytest.raises(UsageError, match=r"a vector of shape \(3,\), expected \(7,\) as these vectors have"):
        vectors.most_similar(np.ones(3))
    with pytest.raises(UnknownWord, match="^W7: none of the 300 words that have a vector. Did you mean 'w7'"):
        vectors["W7"]
    with pytest.raises(UnknownWord, match="have a vector.$"):
        vectors["something else"]
    assert repr(vectors) == "<Vectors of 300 words, 7 numbers each>"


def test_a_search_with_a_zero_vector_is_refused(vectors, rng_table):
    rng_table[9] = 0
    for ask in (lambda: vectors.most_similar("w9"), lambda: vectors.analogy("w1", "w9", "w2"),
                lambda: vectors.most_similar_cosmul(["w9", "w1"])):
        with pytest.raises(DataError, match="^w9: its vector is zeros, which no word is near.$"):
            ask()
    with pytest.raises(DataError, match="^w3, w3: their vectors add up to zeros, which no word is near.$"):
        vectors.most_similar("w3", "w3")
    with pytest.raises(UsageError, match="has numbers that are not finite"):
        vectors.most_similar(np.full(7, np.nan, np.float32))
    assert ("w9", 0.0) in vectors.most_similar("w3", topn=299)  # it may stand among the neighbors of others


def test_a_number_is_no_word(vectors):
    with pytest.raises(UsageError, match=r"vectors\[7\], expected a word: .* rows are vectors.table\[7\]"):
        vectors[7]


def test_subwords_of_a_sentence_are_composed_once_a_word(vectors):
    """Hashing them is what takes the time."""
    class Parts:
        asked: list = []

        def vector(self, word):
            self.asked.append(word)
            return np.ones(7, np.float32)

    composing = Vectors(vectors.words, vectors.table, counts=vectors.counts, subwords=Parts())
    found = sentences.mean(composing, [["new", "w1", "new"], ["new"]])
    np.testing.assert_allclose(found[0], (2 + vectors["w1"]) / 3, rtol=1e-6)
    assert Parts.asked == ["new"] and found[1].tolist() == [1] * 7


def test_ties_go_to_the_more_frequent_word():
    vectors = Vectors(["a", "b", "c", "d"], np.array([[1, 0], [0, 1], [1, 0], [1, 0]], np.float32))
    assert [word for word, _ in vectors.most_similar("b", topn=2)] == ["a", "c"]
    assert [word for word, _ in vectors.most_similar("a", topn=9)] == ["c", "d", "b"]


def test_sentences_are_means_of_their_words(vectors, rng_table):
    found = sentences.mean(vectors, [["w1", "x", "w4"], ["x"]])
    np.testing.assert_allclose(found, [rng_table[[1, 4]].mean(0), np.zeros(7)], rtol=1e-6)
    with pytest.raises(UsageError, match="expected a list of words"):
        sentences.mean(vectors, ["w1 w4"])


def test_sif_weighs_rare_words_more_and_takes_the_shared_direction_out(vectors, rng_table):
    text = [["w1", "w200"], ["w5", "w6", "w7"], ["w9", "w250"]]
    chance = np.arange(300, 0, -1) / np.arange(301).sum()
    weighted = np.stack([np.mean([1e-3 / (1e-3 + chance[int(w[1:])]) * rng_table[int(w[1:])] for w in s], axis=0)
                         for s in text])
    first = np.linalg.svd(weighted, full_matrices=False)[2][0]
    found = sentences.smooth_inverse_frequency(vectors, text)
    np.testing.assert_allclose(found, weighted - np.outer(weighted @ first, first), atol=1e-5)
    np.testing.assert_allclose(found @ first, 0, atol=1e-5)
