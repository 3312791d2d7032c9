"""Curves over steps, tokens, FLOPs and seconds, from the files that a training writes; also where it was stopped."""

import json
import os
import signal

import pytest
from small import SIZE, TRANSFORMER, planned, silent, train

from chainrule.errors import StorageError
from chainrule.models.cost.counting import counted
from chainrule.training.callbacks import Callbacks
from chainrule.training.curve import curve


def stopping_at(step):
    return lambda facts: os.kill(os.getpid(), signal.SIGINT) if facts["step"] == step else None


def test_a_curve_has_tokens_flops_and_seconds_in_each_row(tmp_path):
    _, fitted = train(TRANSFORMER, planned(), tmp_path)
    rows = curve(tmp_path)
    assert [row["step"] for row in rows] == [2, 4, 5, 6, 8, 10, 10, 12, 12]
    assert [row["tokens"] for row in rows] == [42 * row["step"] for row in rows]
    each = sum(part.training for part in counted(TRANSFORMER, SIZE, 7))
    assert [row["flops"] for row in rows] == [round(each * row["tokens"]) for row in rows]
    assert rows[-1]["flops"] == fitted.flops
    seconds = [row["seconds"] for row in rows]
    assert seconds == sorted(seconds) and all("loss" in row or "valid_loss" in row for row in rows)


def test_a_resumed_training_keeps_one_time_for_each_row(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=stopping_at(5)))
    with (tmp_path / "timings.jsonl").open("a") as file:  # as a killed process leaves it: rows after the checkpoint
        file.write(json.dumps({"step": 6, "seconds": 99.0}) + "\n" + json.dumps({"step": 8, "seconds": 99.5}) + "\n")
    train(TRANSFORMER, planned(), tmp_path)
    rows = curve(tmp_path)
    assert [row["step"] for row in rows] == [2, 4, 5, 6, 8, 10, 10, 12, 12]
    assert max(row["seconds"] for row in rows) < 99


def test_a_run_without_timings_has_the_rows_it_has(tmp_path):
    assert curve(tmp_path) == []
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "tokens": 2}\n')
    assert curve(tmp_path) == [{"step": 1, "tokens": 2}]


def test_a_folder_that_is_missing_is_reported_in_one_line(tmp_path):
    (tmp_path / "lstm").mkdir()
    (tmp_path / "lstm" / "metrics.jsonl").write_text("")
    with pytest.raises(StorageError, match="^.*/lsmt: no such run folder. Did you mean '.*/lstm'?"):
        curve(tmp_path / "lsmt")
    with pytest.raises(StorageError, match="metrics.jsonl: a file, expected a run folder."):
        curve(tmp_path / "lstm" / "metrics.jsonl")


def test_texts_with_other_line_separators_do_not_end_a_row(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "samples": ["a\u2028b\x85c"]}\n', encoding="utf-8")
    assert curve(tmp_path) == [{"step": 1, "samples": ["a\u2028b\x85c"]}]


@pytest.mark.parametrize(("metrics", "timings", "said"), [
    (b'{"step": 1}\n{"step": \n', b"", "metrics.jsonl: line 2: not JSON"),
    (b'{"step": 1}\n\n{"step": 2}\n', b"", "metrics.jsonl: line 2: not JSON"),
    (b'{"step": 1}\n[2]\n', b"", "metrics.jsonl: line 2: a JSON list, expected an object."),
    (b'{"step": "\xff"}\n', b"", "metrics.jsonl: byte 10 is not UTF-8, expected JSON."),
    (b"[" * 200_000, b"", "metrics.jsonl: line 1: not JSON"),
    (b'{"step": 1}\n', b'{"step": 1}\n{"sec', "timings.jsonl: line 2: not JSON"),
    (b'{"step": 1}\n{"step": 2}\n', b'{"step": 1}\n', "timings.jsonl: 1 rows, expected 2 as metrics.jsonl has."),
])
def test_a_damaged_row_is_named_by_file_and_line(tmp_path, metrics, timings, said):
    (tmp_path / "metrics.jsonl").write_bytes(metrics)
    (tmp_path / "timings.jsonl").write_bytes(timings)
    with pytest.raises(StorageError, match=said) as raised:
        curve(tmp_path)
    assert "\n" not in str(raised.value) and "Restore it from a copy, or train again." in str(raised.value)


def test_a_damaged_identity_never_removes_checkpoints(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=stopping_at(5)))
    kept = sorted(path.name for path in tmp_path.glob("step-*"))
    (tmp_path / "identity.json").write_text('{"family": ')
    with pytest.raises(StorageError, match="identity.json: not JSON .* With --force, training starts over."):
        train(TRANSFORMER, planned(), tmp_path)
    assert kept and sorted(path.name for path in tmp_path.glob("step-*")) == kept
