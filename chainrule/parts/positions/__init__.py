"""One position a file."""

PARTS = "position"
