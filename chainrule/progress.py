"""Progress of training in words, and in a notebook: one line that changes in its place."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any

Facts = Mapping[str, Any]  # of training: the share that is done, the loss, the speed
Show = Callable[[Facts], None]
OFTEN = 0.2  # seconds between two changes of the line
log = logging.getLogger("chainrule.steps")


def measured(facts: Facts) -> str:
    """`step 12, loss 2.345, 1.987 bits per byte, 12,345 tokens/s, 95 s left`, as far as there are such facts."""
    formats = {"step": "step {:,}", "loss": "loss {:.3f}", "bits_per_byte": "{:.3f} bits per byte",
              "tokens_per_second": "{:,.0f} tokens/s", "words_per_second": "{:,.0f} words/s",
              "seconds_left": "{:,.0f} s left"}
    return ", ".join(text.format(facts[name]) for name, text in formats.items() if facts.get(name) is not None)


class Follower(logging.Handler):
    """Hands each step's name on as it begins."""

    def __init__(self, show: Callable[[str], None]):
        super().__init__(logging.DEBUG)
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        self.show(record.getMessage())


def in_notebook() -> bool:
    """Whether an IPython kernel runs this process; IPython is not imported where nobody has."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def notebook_progress(show: Show | None) -> Iterator[Show | None]:
    """What training calls with its facts: `show` if there is one; in a notebook a line that shows them; or None."""
    if show is not None or not in_notebook():
        yield show
        return
    line, (level, passed_on) = _Line(), (log.level, log.propagate)
    follower = Follower(line.step)
    log.addHandler(follower)
    log.setLevel(logging.DEBUG)
    log.propagate = False  # so that handlers of the notebook's own do not print it
    try:
        yield line.measure
        line.end("done")
    except BaseException as error:
        line.end("stopped" if isinstance(error, KeyboardInterrupt) else "failed")
        raise
    finally:
        log.removeHandler(follower)
        log.setLevel(level)
        log.propagate = passed_on


class _Line:
    """One display of the notebook; needs no widgets."""

    def __init__(self) -> None:
        self.began, self.said, self.last, self.handle = time.monotonic(), 0.0, "", f"chainrule-{time.monotonic_ns()}"
        self.draw("starting", None, new=True)

    def step(self, name: str) -> None:
        self.draw(name, None)

    def measure(self, facts: Facts) -> None:
        self.last = measured({**facts, "seconds_left": None})
        if time.monotonic() - self.said >= OFTEN:
            self.draw(f"training: {measured(facts)}", facts.get("progress"))

    def end(self, how: str) -> None:
        after = f"{how} after {time.monotonic() - self.began:,.1f} s"
        self.draw(f"{after}: {self.last}" if self.last else after, 1.0 if how == "done" else None)

    def draw(self, text: str, share: float | None, *, new: bool = False) -> None:
        """As plain text for notebooks that show no HTML, and with a bar."""
        from IPython.display import display

        self.said = time.monotonic()
        bar = "<progress></progress>" if share is None else f'<progress max="1" value="{share:.3f}"></progress>'
        display({"text/plain": text, "text/html": f"{bar} {escape(text)}"}, raw=True,
                display_id=self.handle, **({} if new else {"update": True}))
