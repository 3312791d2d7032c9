"""Where trials run: one engine a file."""
