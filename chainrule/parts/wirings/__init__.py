"""One wiring a file."""

PARTS = "wiring"
