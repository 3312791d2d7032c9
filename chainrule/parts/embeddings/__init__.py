"""How tokens become vectors, one way a file."""

PARTS = "embedding"
