"""The folder of an unfinished training: its identity, its checkpoints, its metrics; one process at a time."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, UsageError
from chainrule.storage import open_run, write_run
from chainrule.storage.json_files import read_object
from chainrule.training.callbacks import Say
from chainrule.training.plan import BOOKKEEPING

IDENTITY, METRICS, TIMINGS, LOGS = "identity.json", "metrics.jsonl", "timings.jsonl", "logs"


class Workspace:
    """`with Workspace(path, identity) as place:`; a training of another identity is refused, unless `force`."""

    def __init__(self, path: Path, identity: Mapping[str, Any], *, force: bool = False, say: Say = print):
        self.path, self.identity, self.force, self.say = path, json.loads(json.dumps(identity)), force, say

    def __enter__(self) -> Workspace:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}. Choose another folder.") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._settle()
        except BlockingIOError:
            os.close(self._handle)
            raise StorageError(f"{self.path}: another process trains there now. Wait for it, or choose another "
                               "folder.") from None
        except BaseException:
            os.close(self._handle)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @property
    def name(self) -> str:
        """The name of the run that is made: `lstm`, of the folder `.lstm.training`."""
        return self.path.name.removeprefix(".").removesuffix(".training")

    def checkpoints(self) -> list[Path]:
        """The oldest first."""
        return sorted(path for path in self.path.glob("step-*") if path.is_dir())

    def newest(self) -> Path | None:
        """The last checkpoint that is whole; damaged ones are named and removed."""
        for path in reversed(self.checkpoints()):
            try:
                return open_run(path).path
            except StorageError as error:
                self.say(f"a damaged checkpoint is skipped: {error}")
                shutil.rmtree(path, ignore_errors=True)
        return None

    def save(self, step: int, fill: Callable[[Path], None], *, keep: int, spared: Collection[int]) -> None:
        """Writes step-N, whole or not at all; then removes all but the last few and those of the spared steps."""
        path = self.path / f"step-{step:09d}"
        if not path.exists():
            write_run(path, fill)
        kept = {*self.checkpoints()[-keep:], *(self.path / f"step-{each:09d}" for each in spared)}
        for old in self.checkpoints():
            if old not in kept:
                shutil.rmtree(old, ignore_errors=True)

    def clear(self) -> None:
        """Removes what was trained so far."""
        for path in self.path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _settle(self) -> None:
        """Writes the identity, or compares it with the one that is there."""
        path = self.path / IDENTITY
        try:
            old = read_object(path) if path.exists() else None
        except StorageError as error:
            if self.checkpoints() and not self.force:
                raise StorageError(f"{error} With --force, training starts over.") from None
            old = None
        changes = ["everything"] if old is None else differences(_binding(old), _binding(self.identity))
        if old is not None and changes and self.checkpoints():
            if not self.force:
                raise UsageError("\n".join([
                    f"{self.path}: holds an unfinished training{_at(self.checkpoints())} that was started with "
                    "different settings:",
                    *changes, "Give the same command to continue it, or --force to start over."]))
            self.say(f"starting over, since this changed: {'; '.join(changes)}.")
        if changes:
            self.clear()
        if old != self.identity:
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps(self.identity, indent=1, sort_keys=True), encoding="utf-8")
            partial.replace(path)


def _binding(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The identity without the options that may change when a training is resumed."""
    training = identity.get("training") or {}
    return {**identity, "training": {name: value for name, value in training.items() if name not in BOOKKEEPING}}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`path: old → new` for everything that changed, nested mappings by their paths."""
    one, other = dict(_flat(old)), dict(_flat(new))
    return [f"{name}: {one.get(name, 'nothing')} → {other.get(name, 'nothing')}"
            for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Any:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _at(checkpoints: list[Path]) -> str:
    return f" (at step {int(checkpoints[-1].name.partition('-')[2]):,})" if checkpoints else ""
