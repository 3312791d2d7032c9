"""One embedding a file."""

PARTS = "embedding"
