"""How the next tokens are chosen, one strategy a file."""

PARTS = "strategy"
