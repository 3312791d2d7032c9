"""Ctrl-C and `kill` end a command by an exception, but never inside standard-library code that it would break.

Python runs a signal's handler between any two steps of the main thread, also inside the standard library. There an
exception does harm: a lock is released twice, a file is closed twice, or a thread is started that is never woken, so
that the process hangs at exit; or the exception is lost, because finalizers only print theirs. So the handler checks
where it was called, and retries a little later if necessary. Code that waits there for something is interrupted anyway.
"""

from __future__ import annotations

import _weakrefset
import atexit
import concurrent.futures.thread as pools
import queue
import shutil
import signal
import threading
import weakref
from types import FrameType
from typing import NoReturn

AGAIN = 0.01  # seconds
PATIENCE = 20  # retries inside these modules; after that the thread must be waiting there
FRAGILE = {module.__file__ for module in (_weakrefset, pools, queue, shutil, threading, weakref)}
WHOLE = {threading.Thread.start.__code__, pools.ThreadPoolExecutor.submit.__code__}  # with all that they call


class Interrupts:
    """The handler of both signals, and of the alarm that calls it again."""

    def __init__(self) -> None:
        self._asked = 0
        self._left = PATIENCE

    def listen(self) -> None:
        """From now on both signals raise. A process that ignores Ctrl-C (`nohup`, a shell's `&`) keeps ignoring it."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)
        atexit.register(self._disarm)

    def _disarm(self) -> None:
        """At exit: an alarm after Python has removed its handlers would end the process with an error."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._asked = number
        self._left = PATIENCE
        self._act(number, frame)

    def _act(self, number: int, frame: FrameType | None) -> None:
        if _in_uninterruptible_call(frame) or (_is_fragile(frame) and self._left):
            self._left = max(0, self._left - 1)
            signal.signal(signal.SIGALRM, self._act)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            _stop(self._asked)


def _is_fragile(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename in FRAGILE


def _in_uninterruptible_call(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code in WHOLE or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _stop(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
