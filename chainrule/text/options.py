"""How raw text is read: what a unit is, and what happens to blank lines, bad bytes and marks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LONGEST_LINE = 64  # MiB
EXPANSION = 500  # times the size of a packed file, as in storage/files.py
UNSEEN = {"longest_line", "expansion", "reverse_complement"}  # options that change nothing about what is read

# a field's name, or a column's number, which YAML and the command line read as one
Column = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


class TextOptions(BaseModel):
    """A *unit* is what one `<s> … </s>` spans: a line for tokenizers that lose white space, else a document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: Literal["auto", "line", "document"] = "auto"
    errors: Literal["strict", "replace"] = "strict"
    blank_lines: Literal["drop", "keep"] = "drop"
    field: Column = "text"
    marks: Literal["error", "drop"] = "error"
    format: Literal["auto", "txt", "jsonl", "csv", "tsv", "conllu", "parquet", "fasta"] = "auto"  # auto: by the ending
    longest_line: int = Field(default=LONGEST_LINE, ge=1)  # MiB, where a line is held in memory: not of plain text
    expansion: int = Field(default=EXPANSION, ge=1)  # a packed file of more than so many times its size is refused
    reverse_complement: bool = False  # of DNA: training reads both strands; what is measured on is never changed

    def digest(self) -> str:
        """Everything that changes what is read, as one short line; part of every cache key."""
        return self.model_dump_json(exclude={*UNSEEN, "format"})  # the format is in the digest of each file
