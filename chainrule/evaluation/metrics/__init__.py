"""One metric a file."""

PARTS = "metric"
