"""One dropout a file."""

PARTS = "dropout"
