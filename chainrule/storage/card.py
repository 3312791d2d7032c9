"""README.md of a run folder: what the model is, how to use it and what it scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chainrule.recipe.strict_yaml import dump_yaml
from chainrule.task_protocols import Task

REMADE = "Everything needed to make it again, given the same text:"
MADE_IN_PYTHON = "What the model is. It was changed or made by Python code of one's own, which no recipe describes:"


def model_card(recipe: Mapping[str, Any], report: Mapping[str, Any], recipe_yaml: str, task: Task) -> str:
    """A model card in Markdown; its head is the metadata that model hubs read."""
    tags = dict.fromkeys([task.kind.replace(" ", "-"), recipe["family"].replace("_", "-")])
    head = dump_yaml({"library_name": "chainrule", "tags": list(tags)})
    commands = "\n".join(f"chainrule {use.format(run='THIS_FOLDER')}" for use in task.uses)
    title = recipe.get("description") or f"A {recipe['family']} model"
    return f"""---
{head}---

# {title}

{task.kind.capitalize()}, family `{recipe["family"]}`{_tokens(recipe)}, made with
chainrule. The folder is the model: `MANIFEST.json` has the SHA-256 of each file.
{_start(recipe.get("start_from"))}
```
{commands}
chainrule verify THIS_FOLDER
```

## What was measured

{_table(report)}
## The recipe

{REMADE if report.get("made_in") is None else MADE_IN_PYTHON}

```yaml
{recipe_yaml}```

{task.caution}
"""


def _start(start: Mapping[str, Any] | None) -> str:
    """The run that training started from, if there was one."""
    return "" if start is None else f"""
Training started from the run `{start["run"]}`, whose `MANIFEST.json` has the SHA-256 `{start["sha256"]}`.
"""


def _table(report: Mapping[str, Any]) -> str:
    """Single numbers; tables of them and examples, which may be private texts, are named and left out."""
    rows = list(_rows(report))
    if not rows:
        return "Nothing was measured.\n"
    return "| | |\n|---|---|\n" + "".join(f"| {name} | {_cell(value)} |\n" for name, value in rows)


def _rows(report: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in report.items():
        name = f"{prefix}{key}".replace("_", " ")
        if _is_table(value):
            found.append((name, "see `report.json`"))
        elif isinstance(value, Mapping):
            found += _rows(value, f"{name}, ")
        elif value is not None and not (isinstance(value, list) and not value):
            found.append((name, value))
    return found


def _is_table(value: Any) -> bool:
    """Whether it is several rows with columns: a list of records, or records of the same fields by name."""
    rows = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return bool(rows) and all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:,.4g}"
    text = f"{value:,}" if type(value) is int else str(value)
    return " ".join(text.replace("|", "\\|").split())


def _tokens(recipe: Mapping[str, Any]) -> str:
    """Over which tokens, where there are any."""
    return "" if recipe["tokenizer"] is None else f", over `{recipe['tokenizer']['name']}` tokens"
