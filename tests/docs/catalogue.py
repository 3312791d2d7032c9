"""Writes docs/catalogue.md from the docstrings of the parts: `python tests/docs/catalogue.py`.

Measured numbers come from benchmarks/modifications.json, which benchmarks/modifications.py writes.
"""

import json
import re
from pathlib import Path

from chainrule.recipe.papers import paper
from chainrule.recipe.registry import docstring, find, kinds, names, options
from chainrule.recipe.signatures import MISSING

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "catalogue.md"
MEASURED = ROOT / "benchmarks" / "modifications.json"
HEAD = """# Catalogue of parts

Every part that a neural model can be made of, from the docstrings of their files (`python tests/docs/catalogue.py`
writes this page). They combine: in language models, in networks that read both ways and, under `model.source`, in
encoder–decoders. `chainrule parts` lists them on the terminal, and [ablate](ablate.md) measures which of them help on
your own text.

The line under a name is what a recipe says, or what follows `chainrule train transformer`. Options stand with their
defaults; `chainrule parts check FOLDER` checks [a part of your own](new-mixer.md).
"""
KINDS = {  # where a recipe names a part of the kind, and what the kind is
    "parts/mixers": ("Mixers", "What moves information along time", "model.pattern=(mf)*3 model.parts.m={}"),
    "parts/attention": ("Attention", "Which keys a query weighs, and how; inside the mixer `attention`", "model.s={}"),
    "parts/positions": ("Positions", "How a model knows where a token is", "model.position={}"),
    "parts/feedforwards": ("Feed-forwards", "What moves information along width", "model.f={}"),
    "parts/streams": ("Stream parts", "What changes the stream itself, between sublayers: its length, its depth",
                      "model.pattern=[sfp]*3 model.parts.p={}"),
    "parts/wirings": ("Wirings", "How a sublayer is put into the stream", "model.wiring={}"),
    "parts/norms": ("Norms", "What keeps the size of vectors", "model.norm={}"),
    "parts/embeddings": ("Embeddings", "From inputs to vectors", "model.embedding={}"),
    "parts/heads": ("Heads", "From vectors to probabilities, and their loss", "model.head={}"),
    "parts/poolings": ("Poolings", "How the vectors of a sequence become one", "model.pooling={}"),
    "parts/dropouts": ("Dropouts", "What is left out at random in training", "model.dropout={}"),
}


def page() -> str:
    """The whole page."""
    assert set(KINDS) == {kind for kind in kinds() if kind.startswith("parts/")}, "a kind is missing in KINDS"
    sections = [f"## {title}\n\n{what}." for title, what, _ in KINDS.values()]
    return "\n".join([HEAD, *(f"{section}\n\n" + "\n".join(entry(kind, name) for name in names(kind))
                              for section, kind in zip(sections, KINDS, strict=True)), *measured()])


def entry(kind: str, name: str) -> str:
    """One part: what it is, what a recipe says, its equation and source, its options."""
    first, *rest = docstring(kind, name).split("\n\n")
    body = "\n".join(f"\n```text\n{each}\n```" if is_equation(each) else f"\n{linked(each)}" for each in rest)
    known = options(kind, name)
    listed = ", ".join(f"`{key}`" if each.default is MISSING else f"`{key}={shown(each.default)}`"
                       for key, each in known.items())
    said = f"\nOptions: {listed}.\n" if listed else ""
    return f"### `{name}`\n\n`{fragment(kind, name)}`\n\n**{' '.join(first.split())}**\n{body}\n{said}"


def fragment(kind: str, name: str) -> str:
    """What a recipe says to have the part; some mixers look at a source, so they stand for x."""
    looks = kind == "parts/mixers" and getattr(find(kind, name), "needs_source", False)
    return ("model.x={}" if looks else KINDS[kind][2]).format(name)


def is_equation(paragraph: str) -> bool:
    """A paragraph of mathematics, not of sentences."""
    return not re.search(r"arXiv|\b(19|20)\d\d\b|[a-z]{3,}\. ", paragraph) and bool(re.search("[=Σ∝↦→]", paragraph))


def linked(text: str) -> str:
    """arXiv numbers as links; spaces in names of parameters such as `window` stay."""
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", text.replace("_", r"\_")
                  if "`" not in text else text)


def shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).strip('"') if not isinstance(value, dict) else str(value["name"])


def measured() -> list[str]:
    """Tables of measured beside published losses, where they were measured."""
    if not MEASURED.exists():
        return []
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    lines = ["## Measured beside published", "", *found["text"], ""]
    for each in found["tables"]:
        rows = [each["columns"], ["---"] * len(each["columns"]), *each["rows"]]
        lines += [f"**{each['title']}**", "", *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    count = sum(bool(paper(kind, name)) for kind in KINDS for name in names(kind))
    print(f"{PAGE.relative_to(ROOT)}: {sum(len(names(kind)) for kind in KINDS)} parts, {count} with a paper")
