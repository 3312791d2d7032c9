"""One self-contained HTML file: script, style and data in it, and no request that leaves it.

The view (a file of `web/src/views/`) draws the data in the reader's browser. Texts may come from any corpus, so they
enter the page only as JSON in which no character can end a script element, and a content security policy lets the
browser run no other script than ours and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from chainrule.errors import ChainruleError, StorageError
from chainrule.storage.json_text import json_text
from chainrule.storage.partial import partial_folder, sweep
from chainrule.storage.writing import sync

MARKUP = re.compile("[<>&\u2028\u2029\ud800-\udfff]")  # would end a script element, or cannot be written as UTF-8
NOT_BUILT = "the scripts of the pages are not built. Run `make page` (or `python web/bundle.py`) in the checkout."


def write_page(path: str | Path, *, view: str, title: str, data: Mapping[str, Any]) -> None:
    """Writes the page atomically; an older one at `path` is replaced."""
    text = page(view=view, title=title, data=data).encode("utf-8")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise StorageError(f"{path}: is a folder, expected the name of a file such as {Path(path).name}.html.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        with partial_folder(target) as folder:
            (folder / target.name).write_bytes(text)
            sync(folder / target.name)
            os.replace(folder / target.name, target)
        sync(target.parent)
    except OSError as error:
        raise StorageError(f"{path}: the page was not written: {error.strerror or error}.") from error


def page(*, view: str, title: str, data: Mapping[str, Any]) -> str:
    """The page's HTML."""
    script, style = built("page.js"), built("page.css")
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{known}'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="chainrule">\n'
        f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript>This page draws its data with JavaScript, which is switched off here.</noscript>\n"
        '<main id="page"></main>\n'
        f'<script type="application/json" id="data">{inlined({"view": view, "title": title, "data": data})}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def inlined(data: Any) -> str:
    """JSON that is safe inside a script element, whatever text it holds; NaN and infinities are null."""
    return MARKUP.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text(data))


def built(name: str) -> str:
    """A file of the bundle, which is made from `web/` and is not in the repository."""
    file = files("chainrule.pages") / "built" / name
    if not file.is_file():
        raise ChainruleError(NOT_BUILT)
    return file.read_text(encoding="utf-8")


def check_built() -> None:
    """Raises early, before the data to be drawn is computed."""
    for name in ("page.js", "page.css"):
        built(name)


def _text(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
