"""The folder of a comparison: what it holds, and a lock so that one process at a time works in it."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError, UsageError
from chainrule.experiments.measuring import write

PLAN, LOCK, REPORT, DETAILS, PAGE, BEST = ("comparison.json", ".lock", "report.json", "details.json", "report.html",
                                           "best")
OURS = (LOCK, "trials", "runs", "search")  # made before comparison.json
WAIT = 60.0  # seconds: a training whose parent was killed may still be saving a checkpoint
log = logging.getLogger("chainrule")


def check_folder(out: Path) -> None:
    """Refuses a folder that holds something else; call it before any work."""
    if out.exists() and not out.is_dir():
        raise StorageError(f"{out}: a file is there, expected the name of a new folder.")
    if out.is_dir() and not (out / PLAN).exists() and any(path.name not in OURS for path in out.iterdir()):
        raise StorageError(f"{out}: exists and is not a comparison, so it is left alone. Choose another folder.")


@contextmanager
def locked(out: Path) -> Iterator[int]:
    """A lock that trials inherit: it is released when the last of them has ended."""
    check_folder(out)
    try:
        (out / "trials").mkdir(parents=True, exist_ok=True)
        (out / "runs").mkdir(exist_ok=True)
        handle = os.open(out / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror}. Choose another folder.") from None
    try:
        _lock(handle, out)
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, out: Path) -> None:
    until = time.monotonic() + WAIT
    logged = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise StorageError(f"{out}: another comparison is running there. Wait for it, or choose another "
                                   "folder.") from None
        if not logged:
            log.info(f"{out}: another process is running there; waiting for it up to {WAIT:.0f} s.")
            logged = True
        time.sleep(0.2)


def write_plan(out: Path, plan: Mapping[str, Any], *, force: bool) -> None:
    """Writes the plan of the comparison; refuses one that differs from the plan already there, unless `force`."""
    path, wanted = out / PLAN, json.loads(json.dumps(plan))
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        old = None
    if old is not None and not force:
        either = {name for each in (old, wanted) for name, recipe in each["recipes"].items() if recipe is None}
        changes = _changes(*(_without(each, either) for each in (old, wanted)))
        if changes:
            raise UsageError("\n".join([f"{out}: holds another comparison:", *changes[:8], "Give the same command to "
                                        "continue it, another --out, or --force: unchanged results are kept."]))
    write(path, wanted)


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs: the lists of recipes if they differ, then the options of the recipes that both have."""
    from chainrule.training.workspace import differences

    both = old["recipes"].keys() & new["recipes"].keys()
    named = [", ".join(each["recipes"]) or "none" for each in (old, new)]
    found = [f"recipes: {named[0]} → {named[1]}"] if old["recipes"].keys() != new["recipes"].keys() else []
    recipes = ({name: _comparable(each["recipes"][name]) for name in sorted(both)} for each in (old, new))
    return found + differences(*({**each, "recipes": own} for each, own in zip((old, new), recipes, strict=True)))


def _comparable(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe without its description, and without the options that all recipes share."""
    return {name: value for name, value in recipe.items() if name not in ("description", "tokenizer", "split")}


def _without(plan: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    """The plan without recipes that could not be read then or now: correcting one keeps the comparison the same."""
    return {**plan, "recipes": {name: recipe for name, recipe in plan["recipes"].items() if name not in names}}


def point_to_best(out: Path, run: str | None) -> None:
    """`best` is a link to the best run, or a copy where the file system has no links."""
    link = out / BEST
    partial = out / f".{BEST}.partial"
    _remove(partial)
    if run is None:
        _remove(link)
        return
    try:
        partial.symlink_to(run, target_is_directory=True)
        if link.is_dir() and not link.is_symlink():
            shutil.rmtree(link)
        partial.replace(link)
    except OSError:
        _remove(link)
        shutil.copytree(out / run, link)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
