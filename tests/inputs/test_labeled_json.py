"""Labeled texts in JSON: splits by name, the usual ones without a name, and what is wrong in one line."""

import gzip
import json

import pytest

import chainrule
from chainrule.errors import DataError
from chainrule.inputs.labeled import Layout, examples
from chainrule.inputs.labeled_json import with_parts
from chainrule.text.corpora import open_corpus

SPLITS = {"val": [["b b", "y"]], "train": [["a a", "x"], ["b\nc", "y"]],
          "test": [{"text": "d", "label": ["x", "y"]}, {"text": "e", "label": 3}]}


def read(spec, **how):
    return [(each.text, each.labels, each.line) for each in examples(open_corpus(spec).sources, Layout(**how))]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.json").write_text(json.dumps(SPLITS, indent=1))
    return tmp_path / "data.json"


def test_a_split_is_named_behind_a_colon(path):
    assert read(f"{path}:train") == [(b"a a", ("x",), 1), (b"b c", ("y",), 2)]
    assert read(f"{path}:test") == [(b"d", ("x", "y"), 1), (b"e", ("3",), 2)]
    one, other = (open_corpus(f"{path}:{part}").fingerprint() for part in ("train", "test"))
    assert one != other != open_corpus(path).fingerprint()


def test_a_list_needs_no_name_and_may_be_packed(tmp_path):
    with gzip.open(tmp_path / "list.json.gz", "wt") as file:
        json.dump([["a", "x"], {"words": "b", "kind": "y"}], file)
    assert read(tmp_path / "list.json.gz", label="kind", text="words") == [(b"a", ("x",), 1), (b"b", ("y",), 2)]


def test_train_and_validation_are_found_by_their_names(path):
    train, valid = with_parts(open_corpus(path), None)
    assert (train.name, valid.name) == (f"{path}:train", f"{path}:val")
    named = open_corpus(f"{path}:test")
    assert with_parts(named, None) == (named, None) and with_parts(open_corpus(path), named)[1] is named


def test_a_run_is_trained_and_measured_on_the_splits(tmp_path):
    pairs = [[f"{word} {n}", word] for n in range(30) for word in ("up", "down")]
    (tmp_path / "data.json").write_text(json.dumps({"train": pairs, "val": pairs[:20], "test": pairs[20:30]}))
    report = chainrule.train("text-classifier", tmp_path / "data.json", tmp_path / "run",
                             overrides=["model.dimension=8", "training.threads=1"])
    assert (report["texts"], report["valid"]["examples"]) == (60, 20) and "held_out" not in report
    assert chainrule.evaluate(tmp_path / "run", f"{tmp_path / 'data.json'}:test")["accuracy"] == 1


@pytest.mark.parametrize(("text", "spec", "message"), [
    (json.dumps(SPLITS), "a.json", "a.json: several splits, and none is named, expected for example .*a.json:val. It"),
    (json.dumps(SPLITS), "a.json:tset", "a.json: no split 'tset', expected for example .*a.json:val. It has val, tr"),
    ('{"a": 1}', "a.json", "a.json: JSON that holds no labeled texts, expected {\"train\""),
    ("[]", "a.json", "a.json: JSON that holds no labeled texts"),
    ('{"text": "a"}\n{"text": "b"}', "a.json", "a.json: not JSON .*or one object a line in a .jsonl file"),
    ('[["a", "x"], 3]', "a.json", r"a.json: line 2: 3, expected \[text, label\] or an object with the fields 'text'"),
    ('[["a", "x"], [4, "x"]]', "a.json", "a.json: line 2: the field 'text' is 4, expected text"),
    ('[["a"]]', "a.json", r"a.json: line 1: no label, expected \[text, label\], or an object"),
    ("[" * 200_000, "a.json", "a.json: not JSON"),
])
def test_other_json_is_one_clear_line(tmp_path, text, spec, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path / spec)
    assert "\n" not in str(caught.value)


def test_json_is_read_as_a_whole_up_to_a_limit(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([["a" * (1 << 20), "x"]]))
    with pytest.raises(DataError, match="more than 1 MiB of JSON in one value.*text.longest_line=2"):
        read(tmp_path / "a.json", longest_line=1)
