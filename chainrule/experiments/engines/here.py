"""Trials as processes of this machine: one at a time on each GPU, or several side by side."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import chainrule
from chainrule.errors import OptionError
from chainrule.experiments.engines._engine import Work
from chainrule.experiments.engines._slots import Slot, slots
from chainrule.experiments.progress import TrialProgress, spent
from chainrule.recipe.registry import part

PATIENCE = 120.0  # seconds that a training has to save a checkpoint when it is stopped


@part
class Here:
    """Each trial is a process: if it runs out of memory, one row fails and not all."""

    def __init__(self, side_by_side: int = 1) -> None:
        if side_by_side < 1:
            raise OptionError("--side-by-side", side_by_side, "at least 1")
        self.side_by_side = side_by_side

    def run(self, works: Sequence[Work], progress: TrialProgress, lock: int) -> dict[str, str | None]:
        """Starts a trial wherever a slot is free; reads what the running ones report until all have ended."""
        waiting, free = list(reversed(works)), list(reversed(slots(self.side_by_side)))
        failures: dict[str, str | None] = {}
        running: list[_Running] = []
        with selectors.DefaultSelector() as reports:
            try:
                while waiting or running:
                    while waiting and free:
                        running.append(_started(waiting.pop(), free.pop(), progress, lock))
                        reports.register(running[-1].reading, selectors.EVENT_READ, running[-1])
                    for key, _ in reports.select():
                        each: _Running = key.data
                        if each.read(progress):
                            continue
                        reports.unregister(each.reading)
                        running.remove(each)
                        failures[each.work.folder] = why = each.ended()
                        progress.ended(each.work.label, why)
                        free.append(each.slot)
            except BaseException as error:  # Ctrl-C reaches only this process, which passes it on
                _stop(running, signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
                raise
        return failures


@dataclass
class _Running:
    """A process, and what has been read of its reports."""

    work: Work
    slot: Slot
    process: subprocess.Popen[bytes]
    pending: bytes = b""
    failure: str | None = None

    @property
    def reading(self) -> int:
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def read(self, progress: TrialProgress) -> bool:
        """Passes on what has come; False when the process has closed its output."""
        data = os.read(self.reading, 1 << 16)
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            facts = json.loads(line)
            self.failure = facts.get("failed", self.failure)
            if "progress" in facts:
                progress.came(self.work.label, facts, spent(facts, self.work.budget))
            elif "stage" in facts:
                progress.measuring(self.work.label)
        return bool(data)

    def ended(self) -> str | None:
        """Why it failed, or None."""
        code = self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return None if code == 0 else self.failure or exit_message(code, self.work.log)


def _started(work: Work, slot: Slot, progress: TrialProgress, lock: int) -> _Running:
    progress.started(work.label)
    with work.log.open("a", encoding="utf-8") as journal:
        process = subprocess.Popen([sys.executable, "-m", "chainrule.experiments.trial", str(work.task)],
                                   env=environment(slot.environment), stdout=subprocess.PIPE, stderr=journal,
                                   stdin=subprocess.DEVNULL, pass_fds=[lock], start_new_session=True)
    return _Running(work, slot, process)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """So that the process imports this package, and its OpenMP threads wait as those of the command line do."""
    here = str(Path(chainrule.__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    return {"GOMP_SPINCOUNT": "3000", **os.environ, **more, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _stop(running: Sequence[_Running], number: signal.Signals) -> None:
    """Stops the processes and waits until each has saved a checkpoint; a second Ctrl-C kills them."""
    for each in running:
        each.process.send_signal(number)
    for each in running:
        try:
            each.process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            each.process.kill()
            each.process.wait()


def exit_message(code: int, journal: Path) -> str:
    """One line about a process that ended without a message."""
    if code == -signal.SIGKILL:
        return "killed (signal 9), usually because memory ran out. Try a smaller model or batch."
    if code < 0:
        return f"ended by signal {-code} ({signal.Signals(-code).name})."
    lines = [line for line in journal.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return f"exit code {code}: {lines[-1][:300] if lines else 'no message'} (see trials/{journal.name})"
