"""One feedforward a file."""

PARTS = "feedforward"
