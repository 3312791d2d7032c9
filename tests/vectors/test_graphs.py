"""Graphs: edge lists, walks that follow p and q, and the two factions of the karate club."""

import networkx
import numpy as np
import pytest

import chainrule
from chainrule.errors import DataError, OptionError
from chainrule.text.corpora import open_corpus
from chainrule.vectors.edges import read_graph
from chainrule.vectors.walks import Walking, chances, walks


def graph(tmp_path, text, directed=False):
    (tmp_path / "some.edgelist").write_text(text)
    return read_graph(open_corpus(tmp_path / "some.edgelist"), directed=directed)


def neighbors(found, name):
    node = found.names.index(name)
    return [found.names[x] for x in found.neighbors[found.starts[node] : found.starts[node + 1]]]


def test_an_edge_list_is_read_both_ways_unless_it_is_directed(tmp_path):
    text = "# a comment\na b\nb,c,2.5\n\nc c\n"
    found = graph(tmp_path, text)
    assert found.names == ["a", "b", "c"]
    assert neighbors(found, "b") == ["a", "c"] and neighbors(found, "c") == ["b", "c"]
    assert found.sums.tolist() == [1, 2, 4.5, 7, 8]
    assert neighbors(graph(tmp_path, text, directed=True), "b") == ["c"]


@pytest.mark.parametrize("line, words", [
    ("b", "some.edgelist: line 3: 'b', expected two nodes and perhaps a weight"),
    ("a b c d", "line 3: 'a b c d', expected two nodes"),
    ("a b heavy", "line 3: weight 'heavy', expected a number above 0"),
    ("a b -1", "line 3: weight '-1', expected a number above 0"),
])
def test_a_broken_line_is_named(line, words, tmp_path):
    with pytest.raises(DataError, match=words):
        graph(tmp_path, f"a b\nb c\n{line}\n")


def test_a_list_without_edges_is_an_error(tmp_path):
    with pytest.raises(DataError, match="there is no edge in it"):
        graph(tmp_path, "# nothing\n")
    (tmp_path / "one.edgelist").write_text("a a\n")
    with pytest.raises(DataError, match="one node alone, expected at least 2"):
        chainrule.train("node2vec", tmp_path / "one.edgelist", tmp_path / "run")
    with pytest.raises(OptionError, match="Nodes are their own tokens"):
        chainrule.train("node2vec", tmp_path / "one.edgelist", tmp_path / "run", overrides=["tokenizer.min_count=2"])


def test_names_may_have_spaces_between_tabs_or_commas(tmp_path):
    assert graph(tmp_path, "New York\tRome\t2\nRome\tOslo\n").names == ["New York", "Rome", "Oslo"]
    assert graph(tmp_path, "New York, Rome, 2\n").names == ["New York", "Rome"]
    with pytest.raises(DataError, match="line 1: weight 'Rome', expected a number above 0. .* separated by tabs"):
        graph(tmp_path, "New York Rome\n")
    with pytest.raises(DataError, match="line 1: ',b', expected two nodes"):
        graph(tmp_path, ",b\n")


def test_nodes_are_not_joined_to_phrases(tmp_path):
    (tmp_path / "some.edgelist").write_text("a b\nb c\n")
    with pytest.raises(OptionError, match="model.phrases.passes = 1, expected 0 for a graph"):
        chainrule.train("node2vec", tmp_path / "some.edgelist", tmp_path / "run", overrides=["model.phrases.passes=1"])


@pytest.mark.parametrize("option", ["p=.nan", "p=.inf", "q=.nan", "q=0"])
def test_walks_without_end_are_refused(option, tmp_path):
    (tmp_path / "some.edgelist").write_text("a b\nb c\n")
    with pytest.raises(OptionError, match="expected a number above 0"):
        chainrule.train("node2vec", tmp_path / "some.edgelist", tmp_path / "run", overrides=[f"model.method.{option}"])


def test_a_dead_end_is_left_at_once_however_large_p_is(tmp_path):
    """With rejection alone this would take 10¹² draws a step."""
    found = graph(tmp_path, "a b\nb c\n")
    path = walks(found, Walking(p=1e12, walks=1, length=9), seed=1)
    assert len(path) == 3 * 10 and (np.abs(np.diff(path[path >= 0].reshape(3, 9), axis=1)) == 1).all()


@pytest.mark.parametrize("p, q", [(1, 1), (0.25, 4), (4, 0.25), (300, 1), (1, 300)])
def test_walks_follow_p_and_q(p, q, tmp_path):
    """Pearson's χ² of every step after two nodes against the definition; weights included."""
    found = graph(tmp_path, "a b 2\nb c\nc a\nc d 3\nd e\ne a 0.5\nd b\n")
    how = Walking(p, q, walks=400, length=40)
    path = walks(found, how, seed=7)
    seen = np.zeros((5, 5, 5))
    for last, here, there in zip(path[:-2], path[1:-1], path[2:], strict=True):
        if min(last, here, there) >= 0:
            seen[last, here, there] += 1
    statistic = freedom = 0
    for last, here in np.argwhere(seen.sum(2) > 50):
        expected = chances(found, last, here, how) * seen[last, here].sum()
        assert not seen[last, here][expected == 0].any()
        some = expected > 0
        statistic += ((seen[last, here] - expected)[some] ** 2 / expected[some]).sum()
        freedom += some.sum() - 1
    assert freedom > 20 and abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)  # χ² has mean ν and variance 2ν


def test_every_walk_begins_at_its_node_and_follows_edges(tmp_path):
    found = graph(tmp_path, "a b\nb c\nc d\n")
    path = walks(found, Walking(walks=3, length=5), seed=1)
    each = np.split(path, np.flatnonzero(path < 0) + 1)[:-1]
    assert sorted(walk[0] for walk in each) == sorted([0, 1, 2, 3] * 3)
    assert all(len(walk) == 6 and (np.abs(np.diff(walk[:-1])) == 1).all() for walk in each)


def test_a_walk_ends_where_no_edge_leads_on(tmp_path):
    found = graph(tmp_path, "a b\nb c\n", directed=True)
    path = walks(found, Walking(walks=1, length=9), seed=1)
    assert sorted(len(walk) for walk in np.split(path, np.flatnonzero(path < 0) + 1)[:-1]) == [2, 3, 4]


def test_the_factions_of_the_karate_club_are_apart(tmp_path):
    """Zachary 1977, as networkx has it: the nearest of two means is the right one for nearly every member."""
    club = networkx.karate_club_graph()
    (tmp_path / "karate.edgelist").write_text("".join(f"{a} {b}\n" for a, b in club.edges))
    chainrule.train("node2vec", tmp_path / "karate.edgelist", tmp_path / "run", overrides=[
        "model.dimension=16", "training.threads=1", "model.method.q=0.5"])
    vectors = chainrule.load(tmp_path / "run").vectors
    faction = np.array([club.nodes[int(name)]["club"] == "Officer" for name in vectors.words])
    units = np.stack([vectors.unit(name) for name in vectors.words])
    units -= units.mean(0)
    main = np.linalg.svd(units)[2][0]  # the largest direction alone, without looking at the factions
    right = ((units @ main > 0) == faction).mean()
    assert max(right, 1 - right) > 0.9


def test_a_walk_of_one_node_is_refused(tmp_path):
    (tmp_path / "some.edgelist").write_text("a b\n")
    with pytest.raises(OptionError, match="model.method.length = 1, expected at least 2. A walk of one node"):
        chainrule.train("node2vec", tmp_path / "some.edgelist", tmp_path / "run", overrides=["model.method.length=1"])
