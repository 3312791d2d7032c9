"""Ctrl-C and `kill` end a command by an exception, but not where Python's own library would not survive or hear it.

Python runs a signal's handler between any two steps of the main thread, also inside the standard library. There an
exception does harm: a lock is released twice, a file closed twice, a thread started that nobody will ever wake, so that
the process hangs at its end; or it is lost, for what a finalizer raises is only printed. So the handler looks where it
is called, and if need be comes again a little later. Who waits in there for something is interrupted nevertheless.
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
PATIENCE = 20  # times that it finds itself in one of these modules: after that the thread is waiting there
FRAGILE = {module.__file__ for module in (_weakrefset, pools, queue, shutil, threading, weakref)}
WHOLE = {threading.Thread.start.__code__, pools.ThreadPoolExecutor.submit.__code__}  # with all that they call


class Interrupts:
    """The handler of both signals, and of the alarm by which it comes again."""

    def __init__(self) -> None:
        self._asked = 0
        self._left = PATIENCE

    def listen(self) -> None:
        """From now on both signals raise. Who was told not to hear Ctrl-C (`nohup`, a shell's `&`) stays so."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._heard)
        signal.signal(signal.SIGTERM, self._heard)
        atexit.register(self._no_more)

    def _no_more(self) -> None:
        """All is done; an alarm after Python has let go of its handlers would end the process as a failure."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) == self._heard:
                signal.signal(number, signal.SIG_DFL)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self._asked = number
        self._left = PATIENCE
        self._act(number, frame)

    def _act(self, number: int, frame: FrameType | None) -> None:
        if _within_the_whole(frame) or (_is_fragile(frame) and self._left):
            self._left = max(0, self._left - 1)
            signal.signal(signal.SIGALRM, self._act)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            _stop(self._asked)


def _is_fragile(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename in FRAGILE


def _within_the_whole(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code in WHOLE or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _stop(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
