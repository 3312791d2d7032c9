"""How vectors become logits, one head a file."""

PARTS = "head"
