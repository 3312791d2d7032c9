"""Ctrl-C, SIGTERM and a closed terminal end training after the current micro-batch; no finished step is lost."""

from __future__ import annotations

import signal
import threading
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """The signal that asked training to stop, if any; `number` is looked at between steps and micro-batches."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._old: dict[int, Any] = {}

    def listen(self) -> None:
        if threading.current_thread() is threading.main_thread():  # only the main thread can handle signals
            heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # as set by nohup
            self._old = {number: signal.signal(number, self._record) for number in heard}

    def restore(self) -> None:
        """Restores the signal handlers."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old = {}

    def raise_signal(self, number: int) -> None:
        """Ends the process as the signal would have; 0 means no signal."""
        self.restore()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number:
            raise SystemExit(128 + number)

    def _record(self, number: int, frame: Any) -> None:
        self.number = number
        self.restore()  # a second signal acts at once
