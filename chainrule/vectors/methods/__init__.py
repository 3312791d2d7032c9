"""How word vectors are learned: one method a file."""

PARTS = "method for word vectors"
