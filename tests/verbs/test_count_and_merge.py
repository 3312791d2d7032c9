"""Counted parts, merged: the same bytes as one pass, whatever the tokenizer."""

import filecmp
import itertools

import numpy as np
import pytest

from chainrule.counting.counts import Counts, Level
from chainrule.counting.merge import stored
from chainrule.counting.scratch import Scratch
from chainrule.errors import StorageError, UsageError
from chainrule.runs import load
from chainrule.verbs.count import count
from chainrule.verbs.merge import merge
from chainrule.verbs.train import train


@pytest.fixture
def text(tmp_path):
    triples = itertools.product(("king", "queen", "é"), ("hearts", "spades", "日本"), ("card", "rule", "law"))
    lines = [f"the {a} of {b} {'<unk>' if i % 11 == 0 else 'is'} a {c}" for i, (a, b, c) in enumerate(triples)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines * 3) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("options", [
    ["tokenizer.name=words"], ["tokenizer.name=words", "tokenizer.min_count=7"],
    ["tokenizer.name=words", "tokenizer.size=9"],
    ["tokenizer.name=characters", "text.unit=line"], ["tokenizer.name=bytes", "text.unit=line"],
])
def test_merged_parts_are_byte_for_byte_the_model_of_one_pass(tmp_path, text, options):
    options = ["model.order=3", *options]
    train("ngram", text, tmp_path / "whole", overrides=options)
    parts = [tmp_path / str(i) for i in (1, 2, 3)]
    for i, part in enumerate(parts, start=1):
        count(text, part, part=f"{i}/3", overrides=options)
    merge(parts, tmp_path / "merged")
    for name in ("model.safetensors", "tokenizer.json", "recipe.yaml"):
        assert filecmp.cmp(tmp_path / "whole" / name, tmp_path / "merged" / name, shallow=False), name


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("options", [["tokenizer.name=words", "tokenizer.min_count=7"],
                                     ["tokenizer.name=bytes", "text.unit=line"]])
def test_merging_keeps_to_the_memory_that_the_recipe_allows(tmp_path, text, options, kernel, monkeypatch, caplog):
    """Then all large arrays lie in files, and the model is the same byte for byte."""
    options = ["model.order=3", *options]
    parts = [tmp_path / str(i) for i in (1, 2, 3)]
    for i, part in enumerate(parts, start=1):
        count(text, part, part=f"{i}/3", overrides=options)
    merge(parts, tmp_path / "roomy")
    made, empty = [], Scratch.empty
    monkeypatch.setattr(Scratch, "empty", lambda self, size, dtype: made.append(self.limit) or empty(self, size, dtype))
    monkeypatch.setattr("chainrule.families.ngram.LEAST", 0)
    monkeypatch.setattr("chainrule.counting.merge.JIT_PAYS_FROM", 0 if kernel else 1 << 40)
    with caplog.at_level("INFO", "chainrule"):
        merge(parts, tmp_path / "tight", overrides=["model.memory=1M"])
    assert "model.memory allows 1 MB: merging their counts on the disk." in caplog.text
    assert None not in made and (made or not kernel)
    assert filecmp.cmp(tmp_path / "roomy/model.safetensors", tmp_path / "tight/model.safetensors", shallow=False)


def test_counts_are_stored_out_of_memory_where_that_is_limited(tmp_path):
    levels = [Level(np.arange(3, dtype=np.int32), np.array([1, 2, 3], np.uint32), np.array([0, 1, 1, 2], np.uint32)),
              Level(np.array([1, 2], np.int32), np.array([4, 5], np.uint32), None)]
    counts = Counts(levels, 0)
    assert stored(counts, Scratch()).levels[0].words is levels[0].words
    found = stored(counts, Scratch(1 << 20, tmp_path))
    for level, expected in zip(found.levels, levels, strict=True):
        for name in ("words", "counts", "starts"):
            array, same = getattr(level, name), getattr(expected, name)
            assert (array is None) == (same is None)
            if array is not None:
                assert isinstance(array.base, np.memmap) and array.dtype == same.dtype
                np.testing.assert_array_equal(array, same)


def test_parts_with_trained_tokenizers_need_one_tokenizer(tmp_path, text):
    options = ["model.order=2", "tokenizer.name=byte_pair", "tokenizer.size=300", "text.unit=line"]
    for i in (1, 2):
        count(text, tmp_path / f"own{i}", part=f"{i}/2", overrides=options)
    with pytest.raises(UsageError, match="Count every part with one and the same"):
        merge([tmp_path / "own1", tmp_path / "own2"], tmp_path / "run")
    train("ngram", text, tmp_path / "whole", overrides=options)
    for i in (1, 2):
        count(text, tmp_path / f"same{i}", part=f"{i}/2", overrides=options,
                   tokenizer=tmp_path / "whole" / "tokenizer.json")
    merge([tmp_path / "same1", tmp_path / "same2"], tmp_path / "merged")
    assert filecmp.cmp(tmp_path / "whole/model.safetensors", tmp_path / "merged/model.safetensors", shallow=False)


def test_parts_that_cannot_be_merged_are_refused(tmp_path, text):
    count(text, tmp_path / "two", overrides=["model.order=2"])
    count(text, tmp_path / "three", overrides=["model.order=3"])
    train("ngram", text, tmp_path / "model", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="was counted with another order"):
        merge([tmp_path / "two", tmp_path / "three"], tmp_path / "run")
    with pytest.raises(StorageError, match="holds a model, expected counts"):
        merge([tmp_path / "model"], tmp_path / "run")
    with pytest.raises(UsageError, match="model.order = 4, expected the order of the counts, 2"):
        merge([tmp_path / "two"], tmp_path / "run", overrides=["model.order=4"])
    with pytest.raises(UsageError, match="--part = '4/3'|part = '4/3', expected"):
        count(text, tmp_path / "x", part="4/3")
    assert not (tmp_path / "run").exists() and not (tmp_path / "x").exists()


def test_a_part_is_not_counted_twice_and_a_missing_one_is_named(tmp_path, text, caplog):
    for i in (1, 2):
        count(text, tmp_path / str(i), part=f"{i}/3", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="hold the same part 1/3 of the same text"):
        merge([tmp_path / "1", tmp_path / "2", tmp_path / "1"], tmp_path / "run")
    with caplog.at_level("INFO", logger="chainrule"):
        merge([tmp_path / "1", tmp_path / "2"], tmp_path / "run")
    assert "part 3/3 of it is missing" in caplog.text
    with pytest.raises(StorageError, match="holds counts, not a model"):
        load(tmp_path / "1")


def test_parts_of_different_splits_are_refused_however_they_are_spelled(tmp_path, text):
    for name, part in (("a", "1/2"), ("b", "1/3"), ("c", "01/2")):
        count(text, tmp_path / "new" / "folder" / name, part=part, overrides=["model.order=2"])
    folder = tmp_path / "new" / "folder"
    with pytest.raises(UsageError, match="parts of different splits of one text"):
        merge([folder / "a", folder / "b"], tmp_path / "run")
    with pytest.raises(UsageError, match="hold the same part 01/2"):
        merge([folder / "a", folder / "c"], tmp_path / "run")


def test_a_given_tokenizer_is_kept(tmp_path, text):
    train("ngram", text, tmp_path / "whole")
    count(text, tmp_path / "half", part="1/40", tokenizer=tmp_path / "whole" / "tokenizer.json")
    merge([tmp_path / "half"], tmp_path / "run")
    assert filecmp.cmp(tmp_path / "whole/tokenizer.json", tmp_path / "run/tokenizer.json", shallow=False)
