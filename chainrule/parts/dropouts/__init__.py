"""What is left out while training, one rule a file."""

PARTS = "dropout"
