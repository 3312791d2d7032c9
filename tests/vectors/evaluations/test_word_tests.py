"""Analogies and pairs of words beside gensim's own measures, and pairs in every layout that such files have."""

import numpy as np
import pytest

from chainrule.vectors.evaluating import evaluate
from chainrule.vectors.evaluations import analogies
from chainrule.vectors.evaluations.similarity import correlation
from chainrule.vectors.store import Vectors
from chainrule.vectors.subwords import BagOfGrams, buckets

WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture(scope="module")
def vectors():
    """Words in a space so small that many analogies are right by chance."""
    return Vectors(WORDS, np.random.default_rng(3).normal(size=(60, 3)).astype(np.float32))


@pytest.fixture(scope="module")
def gensim_vectors(vectors):
    gensim = pytest.importorskip("gensim.models")
    found = gensim.KeyedVectors(vectors.dimension)
    found.add_vectors(WORDS, vectors.table)
    return found


@pytest.fixture(scope="module")
def questions(gensim_vectors, tmp_path_factory):
    """Two sections; every third answer is the one that gensim finds; some words are unknown."""
    rng = np.random.default_rng(4)
    lines = []
    for number in range(90):
        a, b, c, d = rng.choice(WORDS, 4, replace=False)
        if number % 3 == 0:
            d = gensim_vectors.most_similar(positive=[b, c], negative=[a], topn=1)[0][0]
        lines.append(f"{a} {b} {c} {'none' if number % 10 == 9 else d}")
    path = tmp_path_factory.mktemp("questions") / "questions.txt"
    path.write_text(": one\n" + "\n".join(lines[:40]) + "\n: two\n" + "\n".join(lines[40:]) + "\n")
    return path


@pytest.mark.parametrize(("together", "at_once", "rows"), [(4096, 128, 2048), (7, 3, 17)])
def test_analogies_are_gensims(vectors, gensim_vectors, questions, together, at_once, rows, monkeypatch):
    for name, value in (("TOGETHER", together), ("AT_ONCE", at_once), ("ROWS", rows)):
        monkeypatch.setattr(analogies, name, value)
    found = evaluate(vectors, [questions])["files"][str(questions)]
    score, sections = gensim_vectors.evaluate_word_analogies(str(questions))
    assert found["accuracy"] == pytest.approx(score) and found["correct"] >= 27
    assert found["skipped"] == 9
    for theirs in sections[:2]:
        ours = found["sections"][theirs["section"]]
        assert ours["correct"] == len(theirs["correct"])
        assert ours["asked"] == len(theirs["correct"]) + len(theirs["incorrect"])


def test_3cosmul_finds_what_gensims_finds(vectors, gensim_vectors):
    rng = np.random.default_rng(5)
    rows = np.array([rng.choice(60, 3, replace=False) for _ in range(50)])
    _, found = analogies.answers(vectors, rows)
    best = [gensim_vectors.most_similar_cosmul(positive=[WORDS[b], WORDS[c]], negative=[WORDS[a]], topn=1)[0][0]
            for a, b, c in rows]
    ours = [vectors.analogy(*(WORDS[row] for row in each), topn=1, method="3CosMul")[0][0] for each in rows]
    assert [WORDS[row] for row in found] == ours
    assert sum(one == other for one, other in zip(ours, best, strict=True)) >= 45  # gensim's ε is 0.000001, not 0.001


def test_pairs_are_gensims_with_ties_and_unknown_words(vectors, gensim_vectors, tmp_path):
    rng = np.random.default_rng(6)
    pairs = [(*rng.choice(WORDS, 2), rng.integers(0, 6)) for _ in range(80)] + [("w1", "none", 3)]
    (tmp_path / "pairs.tsv").write_text("# pairs\n" + "".join(f"{a}\t{b}\t{score}\n" for a, b, score in pairs))
    found = evaluate(vectors, [tmp_path / "pairs.tsv"])["files"][str(tmp_path / "pairs.tsv")]
    pearson, spearman, unknown = gensim_vectors.evaluate_word_pairs(str(tmp_path / "pairs.tsv"))
    assert found["pearson"] == pytest.approx(pearson[0], abs=1e-6)
    assert found["spearman"] == pytest.approx(spearman[0], abs=1e-6)
    assert found["coverage"] == pytest.approx(1 - unknown / 100) and found["skipped"] == 1


@pytest.mark.parametrize("text", [
    "w1\tw2\t7.5\nw3\tw4\t2\nw5\tw6\t4\n",
    "w1 w2 7.500000\nw3 w4 2\nw5  w6 4\n",
    "Word 1,Word 2,Human (mean)\nw1,w2,7.5\nw3,w4,2\nw5,w6,4\n",
    '"word1","word2","score"\n"w1","w2",7.5\n"w3","w4",2\n"w5","w6",4\n',
    "w1;w2;7.5\nw3;w4;2\nw5;w6;4\n",
    "word1\tword2\tPOS\tSimLex999\tconc(w1)\nw1\tw2\tA\t7.5\t1\nw3\tw4\tA\t2\t9\nw5\tw6\tN\t4\t5\n",
    "Word 1,Word 2,Human (mean),1,2\nw1,w2,7.5,9,6\nw3,w4,2,1,3\nw5,w6,4,4,4\n",
    "w1-n w2-j 7.5\nw3-n w4-v 2\nw5-n w6-n 4\n",
    "\ufeffW1\tW2\t7.5\r\nw3\tw4\t2\r\nw5\tw6\t4\r\n",
    "# comment\nw1\tw2\tV\t7.5\tSYNONYMS\nw3\tw4\tV\t2\tNONE\nw5\tw6\tV\t4\tNONE\n",
])
def test_pairs_are_read_in_every_usual_layout(vectors, text, tmp_path):
    (tmp_path / "pairs").write_text(text, newline="")
    found = evaluate(vectors, [tmp_path / "pairs"])["files"][str(tmp_path / "pairs")]
    cosines = np.array([vectors.similarity(f"w{i}", f"w{i + 1}") for i in (1, 3, 5)])
    assert (found["pairs"], found["skipped"]) == (3, 0)
    assert found["pearson"] == pytest.approx(np.corrcoef(cosines, [7.5, 2, 4])[0, 1])


def test_equal_scores_have_no_correlation():
    assert correlation(np.array([1.0, 2, 3]), np.array([5.0, 5, 5])) is None
    assert correlation(np.array([1.0]), np.array([5.0])) is None


def test_unseen_words_with_subwords_are_measured_beside(tmp_path):
    rng = np.random.default_rng(7)
    grams = BagOfGrams(rng.normal(size=(50, 4)).astype(np.float32), np.arange(50), 2, 3, 50)
    vectors = Vectors(["cat", "dog", "cow"], rng.normal(size=(3, 4)).astype(np.float32), subwords=grams)
    (tmp_path / "pairs").write_text("cat dog 3\ncat cow 2\ncat cats 9\ndogs cow 1\n")
    found = evaluate(vectors, [tmp_path / "pairs"])["files"][str(tmp_path / "pairs")]
    assert (found["pairs"], found["coverage"], found["coverage_with_subwords"]) == (2, 0.5, 1)
    cats = grams.table[buckets("cats", 2, 3, 50)].mean(0)
    cosines = [vectors.similarity("cat", "dog"), vectors.similarity("cat", "cow"), vectors.similarity("cat", cats),
               vectors.similarity(vectors["dogs"], "cow")]
    assert found["pearson_with_subwords"] == pytest.approx(np.corrcoef(cosines, [3, 2, 9, 1])[0, 1], abs=1e-6)
