"""One tokenizer a file."""

PARTS = "tokenizer"
