"""Parts outside the package: folders that `--plugins` or CHAINRULE_PLUGINS names, and packages with entry points.

A plug-in folder has subfolders named as the kinds of parts, by their last word or whole: `mixers/`, `attention/`,
`smoothing/`, `training/optimizers/`. The environment variable passes it on to child processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path

from chainrule.errors import UsageError

VARIABLE = "CHAINRULE_PLUGINS"
GROUPS = {"chainrule.parts": "", "chainrule.families": "families"}  # entry points, and the kind that they are all of
PREFERRED = {"optimizers": "training/optimizers"}  # where the last word is the name of two kinds
SPACE = "chainrule_plugins"


@dataclass(frozen=True)
class PartFolder:
    """A folder with parts of one kind, and the package that its files are imported as."""

    path: Path
    package: str


def add_plugins(folder: str | Path) -> None:
    """Makes the parts of a plug-in folder known, here and in child processes."""
    path = Path(folder).absolute()
    if not path.is_dir():
        raise UsageError(f"--plugins {folder}: no such folder, expected one with subfolders such as mixers/ or "
                         "attention/.")
    known = folders()
    if path not in known:
        os.environ[VARIABLE] = os.pathsep.join(map(str, [*known, path]))


def folders() -> list[Path]:
    """The plug-in folders, in the order in which they were named."""
    for each in _named():
        if not Path(each).is_dir():
            raise UsageError(f"{VARIABLE} names {each}: no such folder. Correct it, or unset it.")
    return [Path(each).absolute() for each in _named()]


def _named() -> list[str]:
    return [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def is_from_plugin(file: str) -> bool:
    """Whether a source file lies in a plug-in folder or in a package with entry points."""
    specs = [find_spec(package) for package, _ in _installed()]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return any(Path(file).absolute().is_relative_to(Path(each).absolute()) for each in [*_named(), *places])


def part_folders(kind: str) -> Iterator[PartFolder]:
    """Where plug-ins keep parts of a kind."""
    last = kind.rpartition("/")[2]
    own = {kind} | ({last} if PREFERRED.get(last, kind) == kind else set())
    for root in folders():
        for name in sorted(own):
            if (root / name).is_dir():
                yield PartFolder(root / name, _package(root, name))
    for package, whole in _installed():
        for name in [""] if whole == kind else sorted(own) if not whole else []:
            spec = find_spec(package)
            for place in (spec.submodule_search_locations or ()) if spec else ():
                if (folder := Path(place) / name).is_dir():
                    yield PartFolder(folder, ".".join([package, *filter(None, name.split("/"))]))


def _package(root: Path, name: str) -> str:
    """A package for a folder, so that its files can import each other relatively: `from ._shared import x`."""
    parts = [SPACE, f"p{sha256(str(root).encode()).hexdigest()[:12]}", *name.split("/")]
    places = [None, root, *(root.joinpath(*name.split("/")[:n + 1]) for n in range(len(name.split("/"))))]
    for depth, place in enumerate(places, start=1):
        full = ".".join(parts[:depth])
        if full not in sys.modules:
            spec = ModuleSpec(full, None, is_package=True)
            spec.submodule_search_locations = [] if place is None else [str(place)]
            sys.modules[full] = module_from_spec(spec)
    return ".".join(parts)


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """Packages that other distributions offer, and the kind where all of a package is of one."""
    from importlib.metadata import entry_points

    return tuple((each.value, kind) for group, kind in GROUPS.items() for each in entry_points(group=group))
