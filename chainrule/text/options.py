"""How raw text is read: what a unit is, and what happens to blank lines, bad bytes and marks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class TextOptions(BaseModel):
    """A *unit* is what one `<s> … </s>` spans: a line for tokenizers that lose white space, else a document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: Literal["auto", "line", "document"] = "auto"
    errors: Literal["strict", "replace"] = "strict"
    blank_lines: Literal["drop", "keep"] = "drop"
    field: str = "text"
    marks: Literal["error", "drop"] = "error"

    def digest(self) -> str:
        """Everything that changes what is read, as one short line; part of every cache key."""
        return self.model_dump_json()
