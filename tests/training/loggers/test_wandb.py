"""Weights & Biases gets every row. Run by hand with the package installed: its 60 MB are not in the extra `dev`."""

import json

import pytest
from small import TRANSFORMER, planned, silent, train
from test_fit import Interrupts

from chainrule.training.callbacks import Callbacks

wandb = pytest.importorskip("wandb")


def test_wandb_keeps_the_rows_of_a_training_that_was_interrupted_under_one_id(tmp_path, monkeypatch):
    plan = planned(loggers=({"name": "wandb", "mode": "offline"},))
    monkeypatch.setenv("WANDB_DIR", str(tmp_path / "before"))
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, plan, tmp_path / "w", callbacks=Callbacks(silent, show=Interrupts(7)))
    wandb.teardown()
    monkeypatch.setenv("WANDB_DIR", str(tmp_path / "after"))
    _, fitted = train(TRANSFORMER, plan, tmp_path / "w")
    wandb.teardown()
    number = (tmp_path / "w" / "logs" / "wandb-id").read_text()
    files = list(tmp_path.glob(f"*/wandb/offline-run-*/run-{number}.wandb"))
    kept = b"".join(path.read_bytes() for path in files)
    assert len(files) == 2
    for row in fitted.metrics:  # W&B keeps numbers as JSON text
        assert json.dumps(row.get("loss", row.get("valid_loss"))).encode() in kept, row
