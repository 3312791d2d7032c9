"""One mixer a file."""

PARTS = "mixer"
