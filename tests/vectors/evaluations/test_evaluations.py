"""Analogies and likeness of words: scores by hand, unknown words, broken files."""

import numpy as np
import pytest

from chainrule.errors import DataError, UsageError
from chainrule.vectors.evaluating import evaluate
from chainrule.vectors.evaluations.similarity import ranks, spearman
from chainrule.vectors.store import Vectors


@pytest.fixture
def grid():
    """man, woman, king, queen at the corners of a square; prince and apple elsewhere."""
    table = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1], [1, 0.1, 0.9, 0], [0, 0, 0, -1]])
    return Vectors(["man", "woman", "king", "queen", "prince", "apple"], table.astype(np.float32))


def test_analogies_by_section_with_what_is_skipped(grid, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": royal\nman woman king queen\nMan Woman King Queen\nman woman prince apple\n: odd\n"
                    "man woman boy girl\n")
    found = evaluate(grid, [path])["files"][str(path)]
    assert found["evaluation"] == "analogies"
    assert found["sections"]["royal"] == {"asked": 3, "correct": 2, "correct_3cosmul": 2, "skipped": 0,
                                          "accuracy": pytest.approx(2 / 3), "accuracy_3cosmul": pytest.approx(2 / 3)}
    assert found["sections"]["odd"] == {"asked": 0, "correct": 0, "correct_3cosmul": 0, "skipped": 1,
                                        "accuracy": None, "accuracy_3cosmul": None}
    assert (found["asked"], found["correct"], found["skipped"]) == (3, 2, 1)


def test_the_tag_of_msr_questions_is_their_section(grid, tmp_path):
    path = tmp_path / "EN-MSR.txt"
    path.write_text("man woman king NN_NNS queen\n")
    found = evaluate(grid, [path])["files"][str(path)]
    assert found["correct"] == 1 and list(found["sections"]) == ["NN_NNS"]


def test_likeness_is_spearmans_correlation(grid, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("# words\none\tother\tscore\nking\tqueen\t9\nking\tprince\t8.5\nking\tapple\t1\nking\tpear\t3\n")
    found = evaluate(grid, [path])["files"][str(path)]
    cosines = [grid.similarity("king", other) for other in ("queen", "prince", "apple")]
    assert found["spearman"] == pytest.approx(spearman(np.array(cosines), np.array([9, 8.5, 1])))
    assert (found["pairs"], found["skipped"], found["coverage"]) == (3, 1, 0.75)


def test_ranks_share_ties():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1, 3.5, 2]
    assert spearman(np.array([1.0, 2, 3]), np.array([10.0, 20, 15])) == pytest.approx(0.5)


@pytest.mark.parametrize("text, words", [
    ("a b 1\nc d 2\ne f\n", "line 3: 'e f', expected two words and a number"),
    ("a b c d\n" * 30 + "a b c\n", "line 31: 3 words, expected 4"),
    (": kinds\na b c d\na b c\n", "line 3: 3 words, expected 4"),
])
def test_a_broken_line_of_a_test_file_is_named(text, words, grid, tmp_path):
    (tmp_path / "test.txt").write_text(text)
    with pytest.raises(DataError, match=words):
        evaluate(grid, [tmp_path / "test.txt"])


def test_a_test_file_in_another_encoding_is_to_be_converted(grid, tmp_path):
    """There is no option by which bad bytes would be read here, so none is advised."""
    (tmp_path / "test.txt").write_bytes("a b 1\nc caf\xe9 2\n".encode("latin-1") * 9)
    with pytest.raises(DataError, match=r"line 2, byte 11: 0xe9 is not UTF-8. Probably ISO-8859-1: .*test.txt\.$"):
        evaluate(grid, [tmp_path / "test.txt"])


def test_a_file_of_no_known_kind_is_refused(grid, tmp_path):
    (tmp_path / "prose.txt").write_text("it was the best of times, it was the worst of times\n")
    with pytest.raises(UsageError, match="no file that word vectors are measured on"):
        evaluate(grid, [tmp_path / "prose.txt"])
    with pytest.raises(DataError, match="no such file"):
        evaluate(grid, [tmp_path / "missing.txt"])
