"""What reshapes a next-token distribution before a token is drawn from it, one filter a file."""

PARTS = "filter"
