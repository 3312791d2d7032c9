"""The approximate index: nearly all neighbors, exact cosines, and clear words where it cannot be had."""

import sys

import numpy as np
import pytest

from chainrule.errors import DataError, OptionError, StorageError, UsageError
from chainrule.vectors.store import Vectors

SIZE, WIDTH = 2000, 20


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(SIZE, WIDTH)) + 2 * rng.normal(size=(20, WIDTH))[np.arange(SIZE) % 20]
    return Vectors([f"w{n}" for n in range(SIZE)], (table * rng.lognormal(size=(SIZE, 1))).astype(np.float32))


@pytest.fixture(scope="module")
def index(vectors):
    pytest.importorskip("faiss")
    from chainrule.vectors.approximate import NearIndex

    return NearIndex(vectors)


def test_nearly_all_neighbors_are_found_with_their_exact_cosines(vectors, index):
    from chainrule.vectors.approximate import recall

    assert recall(vectors, index) > 0.95
    exact = dict(vectors.most_similar(["w1", "w21"], ["w2"], topn=SIZE))
    found = vectors.most_similar(["w1", "w21"], ["w2"], topn=12, index=index)
    assert len(found) == 12 and not {"w1", "w21", "w2"} & {word for word, _ in found}
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert all(cosine == pytest.approx(exact[word], abs=1e-5) for word, cosine in found)


def test_a_weak_index_misses_some(vectors, index):
    from chainrule.vectors.approximate import NearIndex, recall

    weak = NearIndex(vectors, links=2, effort=2)
    assert recall(vectors, weak, words=50) < recall(vectors, index, words=50)


def test_an_index_is_saved_and_belongs_to_its_vectors(vectors, index, tmp_path):
    from chainrule.vectors.approximate import NearIndex

    index.save(tmp_path / "index.faiss")
    again = NearIndex.load(tmp_path / "index.faiss", vectors)
    assert vectors.most_similar("w7", index=again) == vectors.most_similar("w7", index=index)
    with pytest.raises(UsageError, match="of 2,000 vectors of 20 numbers, expected 10 of 20"):
        NearIndex.load(tmp_path / "index.faiss", Vectors(vectors.words[:10], vectors.table[:10]))


def test_a_broken_or_missing_file_is_one_line(vectors, index, tmp_path):
    from chainrule.vectors.approximate import NearIndex

    (tmp_path / "broken").write_bytes(b"no index at all")
    for name in ("broken", "missing"):
        with pytest.raises(DataError, match=f"{name}: not a readable index of faiss") as caught:
            NearIndex.load(tmp_path / name, vectors)
        assert "\n" not in str(caught.value)
    with pytest.raises(StorageError, match="the index was not written"):
        index.save(tmp_path / "no" / "folder" / "index")


def test_impossible_queries_are_refused(vectors, index, monkeypatch):
    from chainrule.vectors.approximate import NearIndex

    with pytest.raises(UsageError, match="an index and restrict_vocab, expected one of them"):
        vectors.most_similar("w1", index=index, restrict_vocab=5)
    with pytest.raises(OptionError, match="links = 1, expected at least 2"):
        NearIndex(vectors, links=1)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(UsageError, match=r"pip install 'chainrule\[index\]'"):
        NearIndex(vectors)


def test_vectors_of_zeros_have_no_neighbors_to_recall(index):
    from chainrule.vectors.approximate import NearIndex, recall

    table = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    table[::2] = 0
    vectors = Vectors([f"w{n}" for n in range(60)], table)
    assert recall(vectors, NearIndex(vectors), words=60, topn=5) > 0.9
