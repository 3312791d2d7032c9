"""Every smoothing gives tables that are accepted; a number that breaks one is found wherever it stands."""

from dataclasses import replace

import numpy as np
import pytest

from chainrule.counting.sound import unsound
from chainrule.recipe.registry import names
from chainrule.runs import load
from chainrule.verbs.train import train

TEXT = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\nthe mat sat\nhay\n"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    (folder / "text.txt").write_text(TEXT * 5)
    train("ngram", folder / "text.txt", folder / "run", overrides=["model.order=3"])
    return load(folder / "run").model.table


def with_number(table, order, field, node, value):
    levels = list(table.levels)
    numbers = np.array(getattr(levels[order - 1], field))
    numbers[node] = value
    levels[order - 1] = replace(levels[order - 1], **{field: numbers})
    return replace(table, levels=levels)


def problem(table):
    return unsound(table, str, least=0.99, most=1.01)


@pytest.mark.parametrize("smoothing", names("counting/smoothing"))
@pytest.mark.parametrize("more", [[], ["model.prune=[0,1,2]"], ["model.compact=true"], ["model.prune_entropy=1e-3"],
                                  ["model.vocabulary=closed"], ["model.order=1"]])
def test_tables_of_every_smoothing_are_saved(tmp_path, smoothing, more):
    (tmp_path / "text.txt").write_text(TEXT * 5)
    how = ["model.order=3", f"model.smoothing={smoothing}", "split.valid=0.3", *more]
    train("ngram", tmp_path / "text.txt", tmp_path / "run", overrides=how)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.0])
@pytest.mark.parametrize("compact", [False, True])
def test_a_log_probability_that_is_none_is_found_wherever_it_stands(table, value, compact):
    for order, level in enumerate(table.levels, start=1):
        for node in range(0, len(level), 3):
            broken = with_number(table, order, "log_probs", node, value)
            assert problem(broken.compact() if compact else broken) == (
                f"a probability of order {order} is not a number from 0 to 1")
    assert problem(table) is problem(table.compact()) is None


@pytest.mark.parametrize("compact", [False, True])
def test_a_back_off_weight_that_is_too_large_is_found_wherever_it_stands(table, compact):
    for order in (1, 2):
        for node in range(len(table.levels[order - 1])):
            broken = with_number(table, order, "backoffs", node, 5.0)
            found = problem(broken.compact() if compact else broken)
            last = int(table.levels[order - 1].words[node])
            assert (found is None) == (last == table.end), (order, node, found)
            assert found is None or "sum to " in found and found.endswith("expected 1")
