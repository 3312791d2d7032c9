"""What a task finds out about its data before training, and a run must keep: its tokenizer, labels, sizes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.models.sizes import Sizes
from chainrule.storage.json_files import FACTS, read_object
from chainrule.storage.json_text import json_text

if TYPE_CHECKING:
    from chainrule.protocols import Tokenizer


@dataclass(frozen=True)
class Known:
    """The tokenizer, the sizes of a network for it, and facts: labels, means and the like, as plain values."""

    tokenizer: Tokenizer | None  # None where inputs and outputs are not text
    sizes: Sizes
    facts: Mapping[str, Any] = field(default_factory=dict)  # what known.json says; it is written where there are any

    def save(self, folder: Path) -> None:
        """Adds the facts to a run, besides the tokenizer.json."""
        if self.facts:
            (folder / FACTS).write_text(json_text(self.facts, indent=1) + "\n", encoding="utf-8")

    def told(self, **facts: Any) -> Known:
        """With further facts."""
        return replace(self, facts={**self.facts, **facts})

    def digest(self) -> str:
        """Of the tokenizer, and of what else is known: an interrupted training goes on only with the same."""
        own = "" if self.tokenizer is None else self.tokenizer.digest()
        if not self.facts:
            return own
        return hashlib.sha256(f"{own} {json.dumps(self.facts, sort_keys=True)}".encode()).hexdigest()


def read_facts(folder: Path | None) -> Mapping[str, Any]:
    """What known.json of a run says; nothing where there is none."""
    if folder is None or not (folder / FACTS).is_file():
        return {}
    return read_object(folder / FACTS)
