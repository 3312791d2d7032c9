"""What keeps numbers in range, one norm a file."""

PARTS = "norm"
