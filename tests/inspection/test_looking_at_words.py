"""Words of word vectors: neighbors and cosines as the store gives them."""

import numpy as np
import pytest

import chainrule
from chainrule.errors import DataError
from chainrule.inspection.words import look_at_words


@pytest.fixture(scope="module")
def run(kinds, tmp_path_factory):
    out = tmp_path_factory.mktemp("words") / "run"
    chainrule.train("ppmi", kinds, out, overrides=["tokenizer.min_count=1", "model.dimension=5"])
    return chainrule.load(out)


def test_neighbors_and_cosines_are_those_of_the_store(run):
    words = list(run.vectors.words[:3])
    found = look_at_words(run, words, top=4)
    for each in found["words"]:
        near = run.vectors.most_similar(each["word"], topn=4)
        assert [row["word"] for row in each["near"]] == [word for word, _ in near]
        assert [row["cosine"] for row in each["near"]] == pytest.approx([cosine for _, cosine in near], abs=1e-4)
    expected = [[run.vectors.similarity(one, other) for other in words] for one in words]
    np.testing.assert_allclose(found["similarity"], expected, atol=1e-4)
    assert [each["rank"] for each in found["words"]] == [1, 2, 3]


def test_the_small_map_has_every_word_once_with_the_asked_one_it_is_nearest_to(run):
    words = list(run.vectors.words[:2])
    found = look_at_words(run, [*words, words[0]], top=3)
    small = found["map"]
    assert [each["word"] for each in found["words"]] == words and len(set(small["words"])) == len(small["words"])
    assert small["belongs"][:2] == [0, 1] and len(small["places"]) == len(small["words"])


def test_an_unknown_word_is_named(run):
    with pytest.raises(DataError, match="zebracorn: none of the"):
        look_at_words(run, ["zebracorn"])
