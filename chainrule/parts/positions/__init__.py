"""How a model knows where a token stands, one way a file."""

PARTS = "position"
