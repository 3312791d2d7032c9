"""TensorBoard shows the curves where it is installed, also those of a training that was interrupted."""

import pytest
from small import TRANSFORMER, planned, silent, train
from test_fit import Interrupts

from chainrule.training.callbacks import Callbacks

events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def test_the_curves_are_those_of_the_metrics(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, planned(), tmp_path, callbacks=Callbacks(silent, show=Interrupts(7)))
    _, fitted = train(TRANSFORMER, planned(), tmp_path)
    board = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    for name in ("loss", "valid_loss", "rate", "gradient_norm"):
        expected = {row["step"]: row[name] for row in fitted.metrics if name in row}
        assert {each.step: each.value for each in board.Scalars(name)} == pytest.approx(expected), name
