"""Curves for TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Mapping

from chainrule.recipe.registry import part
from chainrule.training.loggers._logger import Session, needed


@part
class TensorBoard:
    """Event files for TensorBoard in the run folder: `tensorboard --logdir runs`.

    Written without torch. A training that is resumed tells TensorBoard to forget what came after its checkpoint.
    """

    def __init__(self, session: Session):
        self._proto = needed("tensorboard.compat.proto.event_pb2", "tensorboard")
        self._summary = needed("tensorboard.compat.proto.summary_pb2", "tensorboard").Summary
        files = needed("tensorboard.summary.writer.event_file_writer", "tensorboard")
        self._writer = files.EventFileWriter(str(session.folder / "tensorboard"))
        begun = self._proto.SessionLog(status=self._proto.SessionLog.START)
        self._add(session.step, session_log=begun)

    def row(self, step: int, numbers: Mapping[str, float]) -> None:
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in numbers.items()]
        self._add(step, summary=self._summary(value=values))

    def close(self) -> None:
        self._writer.close()

    def _add(self, step: int, **what: object) -> None:
        self._writer.add_event(self._proto.Event(wall_time=time.time(), step=step, **what))
