"""Hierarchical softmax goes on with its own tree: every inner node parts the same words as before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule
from chainrule.storage.tensors import open_tensors
from chainrule.vectors.huffman import branches, grafted, huffman, tree_of

HOW = ["training.threads=1", "model.dimension=8", "training.sample=0", "tokenizer.min_count=1",
       "model.method.loss=hierarchical_softmax"]


def parted(tree, names):
    """For each inner node: the names to its left and to its right."""
    found = {}
    for word, name in enumerate(names):
        way = slice(tree.starts[word], tree.starts[word + 1])
        for node, turn in zip(tree.nodes[way].tolist(), tree.codes[way].tolist(), strict=True):
            found.setdefault(node, (set(), set()))[turn].add(name)
    return found


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.lists(st.integers(0, 50), max_size=9), st.randoms())
def test_earlier_inner_nodes_part_the_same_words_and_new_words_have_ways(old, new, random):
    rows = [*range(len(old)), *[-1] * len(new)]
    random.shuffle(rows)
    rows = np.array(rows)
    names = [f"old {row}" if row >= 0 else f"new {at}" for at, row in enumerate(rows)]
    before = parted(huffman(np.array(old)), [f"old {n}" for n in range(len(old))])
    counts = np.ones(len(rows), np.int64)
    counts[rows < 0] = new
    after = parted(tree_of(grafted(branches(np.array(old)), rows, counts)), names)
    assert {node: after[node] for node in before} == before
    assert sorted(after) == list(range(len(rows) - 1))  # a tree: each inner node once, each with two sides
    assert all(left and right and not left & right for left, right in after.values())
    if len(rows) > 1:
        assert set.union(*after[len(rows) - 2]) == set(names)  # the last is the root


@pytest.fixture
def runs(tmp_path):
    """A run, and one that goes on from it with other counts and new words, at a rate at which nothing moves."""
    (tmp_path / "first.txt").write_text("the cat sat on the mat\nthe dog ran off\n" * 20)
    (tmp_path / "second.txt").write_text("ran ran ran off off mat yak gnu\n" * 30)

    def train(recipe, *more):
        how = [*HOW, *more]
        chainrule.train(recipe, tmp_path / "first.txt", tmp_path / "first", overrides=how)
        chainrule.train(recipe, tmp_path / "second.txt", tmp_path / "second", overrides=[
            *how, f"model.initial={tmp_path / 'first'}", "training.alpha=1e-12", "training.min_alpha=0"])
        return [(open_tensors(tmp_path / name / "model.safetensors"), chainrule.load(tmp_path / name).vectors.words)
                for name in ("first", "second")]
    return train


@pytest.mark.parametrize(("recipe", "more"), [("skipgram", []), ("cbow", []), ("fasttext", ["model.method.bucket=50"])])
def test_continued_training_keeps_what_inner_nodes_have_learned(runs, recipe, more):
    (before, words), (after, joined) = runs(recipe, *more)
    assert set(joined) == {*words, "yak", "gnu"} and list(joined[: len(words)]) != list(words)
    earlier, now = (parted(tree_of(np.asarray(each["tree"])), names) for each, names in ((before, words),
                                                                                        (after, joined)))
    assert {node: now[node] for node in earlier} == earlier
    assert np.abs(before["outputs"]).max() > 0.01
    np.testing.assert_allclose(after["outputs"][: len(earlier)], before["outputs"], atol=1e-6)
    np.testing.assert_allclose(after["outputs"][len(earlier) :], 0, atol=1e-6)


def test_outputs_of_another_loss_are_not_taken_for_inner_nodes(runs, tmp_path):
    runs("skipgram")
    chainrule.train("skipgram", tmp_path / "first.txt", tmp_path / "third", overrides=[
        *HOW[:-1], f"model.initial={tmp_path / 'first'}", "training.alpha=1e-12", "training.min_alpha=0"])
    third = open_tensors(tmp_path / "third" / "model.safetensors")
    assert "tree" not in third and np.abs(third["outputs"]).max() < 1e-6
