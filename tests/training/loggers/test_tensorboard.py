"""TensorBoard reads the event files that training writes."""

import pytest
from small import TRANSFORMER, planned, silent, train
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from test_fit import Interrupts

from chainrule.training.callbacks import Callbacks


def test_tensorboard_reads_the_curves_of_a_training_that_was_interrupted(tmp_path):
    plan = planned(loggers=("tensorboard",))
    with pytest.raises(KeyboardInterrupt):
        train(TRANSFORMER, plan, tmp_path, callbacks=Callbacks(silent, show=Interrupts(7)))
    _, fitted = train(TRANSFORMER, plan, tmp_path)
    board = EventAccumulator(str(tmp_path / "logs" / "tensorboard")).Reload()
    for name in ("loss", "valid_loss", "rate", "gradient_norm"):
        expected = {row["step"]: row[name] for row in fitted.metrics if name in row}
        assert {each.step: each.value for each in board.Scalars(name)} == pytest.approx(expected), name
