"""The paper that a part comes from: the first one that its docstring names."""

from __future__ import annotations

import re

from chainrule.recipe.registry import docstring

NAME = r"[A-ZÀ-Ž][\w’'‑-]+"
PAPER = re.compile(rf"((?:{NAME}(?:, | & | et al\.,? | and | ))+(?:19|20)\d\d)(?:,? \(?(arXiv:\d{{4}}\.\d{{4,5}}))?")


def paper(kind: str, name: str) -> str:
    """Such as `Kim 2014, arXiv:1408.5882`; empty where the docstring names none."""
    found = PAPER.search(" ".join(docstring(kind, name).split()))
    return ", ".join(filter(None, found.groups())) if found else ""
