"""One norm a file."""

PARTS = "norm"
