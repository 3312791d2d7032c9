"""Subwords: fastText's n-grams and hash, and vectors of words that were never seen."""

import numpy as np
import pytest
from small_text import BEASTS

import chainrule
from chainrule.errors import DataError
from chainrule.vectors.methods.fasttext import means
from chainrule.vectors.subwords import all_buckets, bags_of, buckets, fnv1a, grams
from chainrule.vectors.windows import Bags

SPELLINGS = ["king", "a", "naïve", "日本語", "où", "don't", "Ω", ""]


def test_the_hash_is_fnv1a():
    """Published values: draft-eastlake-fnv, 32 bits."""
    assert [fnv1a(text) for text in (b"", b"a", b"foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]


def test_the_grams_of_a_word():
    assert grams("cat", 3, 4) == ["<ca", "<cat", "cat", "cat>", "at>"]
    assert grams("a", 1, 2) == ["<a", "a", "a>"]  # a mark alone is none


@pytest.mark.parametrize("shortest, longest", [(3, 6), (1, 3), (2, 2)])
def test_the_kernel_hashes_as_plain_python_does(shortest, longest):
    found, counts = all_buckets(SPELLINGS, shortest, longest, 7919)
    assert np.split(found, np.cumsum(counts)[:-1])[2].tolist() == buckets("naïve", shortest, longest, 7919)
    assert found.tolist() == [b for word in SPELLINGS for b in buckets(word, shortest, longest, 7919)]


def test_grams_and_buckets_are_those_of_fasttext(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    (tmp_path / "text.txt").write_text("king naïve 日本語 où\n" * 300)
    model = fasttext.train_unsupervised(str(tmp_path / "text.txt"), minn=3, maxn=6, bucket=5000, dim=2, epoch=1,
                                        minCount=1, verbose=0)
    for word in ("king", "naïve", "日本語", "où", "unseen", "Ω"):
        spelled, rows = model.get_subwords(word)
        own = word in model.words
        assert spelled[own:] == grams(word, 3, 6)
        assert (rows[own:] - len(model.words)).tolist() == buckets(word, 3, 6, 5000)


def test_a_bag_is_the_word_and_its_grams():
    bags, used = bags_of(["cat", "hat"], 3, 3, 1000)
    rows = [bags.members[low:high].tolist() for low, high in zip(bags.starts[:-1], bags.starts[1:], strict=True)]
    assert [each[0] for each in rows] == [0, 1] and bags.rows == 2 + len(used)
    assert [used[row - 2] for row in rows[0][1:]] == buckets("cat", 3, 3, 1000)
    assert set(rows[0]) & set(rows[1]) == {2 + int(np.searchsorted(used, fnv1a(b"at>") % 1000))}


@pytest.fixture(scope="module")
def trained(kinds, tmp_path_factory):
    out = tmp_path_factory.mktemp("subwords") / "run"
    chainrule.train("fasttext", kinds, out, overrides=[
        "tokenizer.min_count=1", "training.threads=1", "training.sample=0", "model.dimension=16",
        "model.method.bucket=1000"])
    return chainrule.load(out)


def test_a_known_word_is_the_mean_of_its_own_vector_and_its_grams(trained):
    from chainrule.storage.tensors import open_tensors

    tensors, vectors = open_tensors(trained.path / "model.safetensors"), trained.vectors
    for word in BEASTS:
        rows = vectors.subwords.rows(word)
        expected = (tensors["words"][vectors.rows[word]] + tensors["grams"][rows].sum(0)) / (1 + len(rows))
        np.testing.assert_allclose(vectors[word], expected, rtol=1e-5)


def test_an_unseen_word_is_the_sum_of_its_grams_over_their_number(trained):
    vectors = trained.vectors
    assert "cats" not in vectors
    table = dict(zip(vectors.subwords.used.tolist(), vectors.subwords.table, strict=True))
    hashed = buckets("cats", 3, 6, 1000)
    expected = sum(table.get(b, np.zeros(16, np.float32)) for b in hashed) / len(hashed)
    np.testing.assert_allclose(vectors["cats"], expected, rtol=1e-5)
    assert vectors.similarity("cats", "cat") > vectors.similarity("cats", "saw")


def test_a_word_without_grams_is_an_error(trained):
    with pytest.raises(DataError, match="^'': none of the 22 words that have a vector"):
        trained.vectors[""]


@pytest.mark.parametrize("width", [1, 9, 16, 20])
def test_means_are_right_for_any_width(width):
    """Files of other programs have rows that are no whole cache lines."""
    table = np.random.default_rng(0).normal(size=(6, width)).astype(np.float32)
    bags = Bags(np.array([0, 1, 6, 8]), np.array([2, 0, 1, 2, 3, 4, 5, 5], np.int32), 6)
    wanted = [table[2], table[:5].mean(0), table[5]]
    np.testing.assert_allclose(means(bags, table, 3), wanted, rtol=1e-5, atol=1e-6)
