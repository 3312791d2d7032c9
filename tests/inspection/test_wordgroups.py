"""Clusters by k-means are the best that there are on small sets, and the same each time."""

import itertools

import numpy as np
import pytest

from chainrule.errors import DataError
from chainrule.inspection.wordgroups import clusters, k_means, labeled


def cost(points, group):
    return sum(((points[group == g] - points[group == g].mean(0)) ** 2).sum() for g in set(group.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_few_points_are_divided_as_well_as_by_trying_all(seed):
    points = np.random.default_rng(seed).normal(size=(9, 3))
    best = min(cost(points, np.array(each)) for each in itertools.product(range(2), repeat=9) if 0 < sum(each) < 9)
    group, found = k_means(points, 2)
    assert found == pytest.approx(cost(points, group)) and found <= 1.05 * best


def test_distant_groups_are_found_and_the_same_each_time():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(size, 6)) + 20 * np.eye(6)[n] for n, size in enumerate((7, 40, 20))])
    names = [f"w{n}" for n in range(67)]
    group, named = clusters(points, names, 3, range(67))
    assert group == [2] * 7 + [0] * 40 + [1] * 20, "the largest is the first"
    assert named == ["w7, w8, w9, w10", "w47, w48, w49, w50", "w0, w1, w2, w3"]
    np.testing.assert_array_equal(k_means(points, 5)[0], k_means(points, 5)[0])


def test_points_that_are_all_alike_are_one_group():
    group, found = k_means(np.ones((5, 2)), 3)
    assert len(set(group.tolist())) == 1 and found == 0.0


def test_labels_beyond_the_colors_are_said(tmp_path):
    lines = [f"w{n}\tlabel {min(n // 2, 9)}" for n in range(20)]
    (tmp_path / "labels.tsv").write_text("\n".join(lines))
    group, names, said = labeled(tmp_path / "labels.tsv", [f"w{n}" for n in range(20)])
    assert len(names) == 8 and max(group) == 7 and group.count(-1) == 4
    assert said == "2 labels with the fewest words have no color"
    with pytest.raises(DataError, match="no-such.tsv: cannot be read"):
        labeled(tmp_path / "no-such.tsv", ["a"])
