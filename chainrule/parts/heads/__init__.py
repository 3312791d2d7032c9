"""One head a file."""

PARTS = "head"
