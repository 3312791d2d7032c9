"""The back-off path: a slow walk over the numbers of the ARPA file takes the same one, with every smoothing."""

import math

import numpy as np
import pytest

from chainrule.counting.mixture import Mixture
from chainrule.recipe.registry import names
from chainrule.runs import load
from chainrule.verbs.export import export
from chainrule.verbs.train import train
from chainrule.watching import watch

TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
LINES = ["the cat sat on a log", "mat mat the dog sat on the mat", "a bird sat", "and"]


def walk(grams, history, word, order):
    """Katz 1987, eq. 6, from the longest context down: (order that answered, weights paid, its own log10 p)."""
    paid = []
    for k in range(min(order - 1, len(history)), -1, -1):
        context = tuple(history[len(history) - k:])
        if (*context, word) in grams:
            return k + 1, paid, grams[*context, word][0]
        if context in grams:
            paid.append((k, grams[context][1]))
    raise AssertionError(f"{word} is not even a unigram")


def arpa(path):
    """{words: (log10 p, log10 γ)}, read line by line."""
    grams = {}
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            grams[tuple(fields[1].split(" "))] = float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0
    return grams


@pytest.mark.parametrize("smoothing", names("counting/smoothing"))
def test_the_path_is_what_a_walk_over_the_arpa_file_finds(smoothing, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 3 + "a log and a bird\n")  # the last line's n-grams are pruned
    how = ["model.order=4", f"model.smoothing={smoothing}", "model.prune=[0,0,2]", "tokenizer.min_count=2"]
    train("ngram", tmp_path / "text.txt", tmp_path / "run", valid=tmp_path / "text.txt", overrides=how)
    export(tmp_path / "run", "arpa", tmp_path / "model.arpa")
    grams, run = arpa(tmp_path / "model.arpa"), load(tmp_path / "run")
    answered = set()
    for line in LINES:
        ids = np.append(run.tokenizer.encode(line), run.tokenizer.end)
        with watch() as seen:
            score = run.model.score(ids[None])[0]
        path, history = seen["path"][0], ["<s>"]
        for t, word in enumerate(map(run.tokenizer.token, ids.tolist())):
            order, paid, own = walk(grams, history, word, 4)
            weights = {k + 1: path.backoffs[0, t, k] for k in range(3) if not math.isnan(path.backoffs[0, t, k])}
            assert path.order[0, t] == order and set(weights) == {k for k, _ in paid}
            assert at_least(path.stored[0, t]) == pytest.approx(at_least(own * math.log(10)), abs=1e-4)
            for k, weight in paid:
                assert at_least(weights[k]) == pytest.approx(at_least(weight * math.log(10)), abs=1e-4)
            answered.add(order)
            history.append(word)
        np.testing.assert_allclose(path.log_probs[0], score, rtol=1e-6)
    assert {1, 4} <= answered


def at_least(log_p):
    """ARPA has no −∞: −99 stands for it."""
    return max(log_p, -100.0)


def test_streams_of_units_show_the_same_path(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 3)
    train("ngram", tmp_path / "text.txt", tmp_path / "run", overrides=["model.order=3"])
    run = load(tmp_path / "run")
    units = [np.append(run.tokenizer.encode(line), run.tokenizer.end) for line in LINES]
    with watch() as stream:
        run.model.score_units(np.concatenate(units))
    with watch() as rows:
        for unit in units:
            run.model.score(unit[None])
    assert stream["path"][0].order.tolist() == [n for path in rows["path"] for n in path.order[0]]


def test_members_of_a_mixture_have_their_own_names(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 3)
    for order in (1, 3):
        train("ngram", tmp_path / "text.txt", tmp_path / f"o{order}", overrides=[f"model.order={order}"])
    runs = [load(tmp_path / f"o{order}") for order in (1, 3)]
    ids = runs[0].tokenizer.encode("the cat sat")[None]
    with watch() as seen:
        whole = Mixture([run.model for run in runs], [0.25, 0.75]).score(ids)
    assert seen["members.0/path"][0].order.max() == 1 < seen["members.1/path"][0].order.max()
    weights, scores = seen["members"][0]
    np.testing.assert_allclose(np.exp(whole), sum(w * np.exp(s) for w, s in zip(weights, scores, strict=True)))
