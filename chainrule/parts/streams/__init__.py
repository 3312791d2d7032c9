"""What changes the stream itself, between sublayers: its length, its depth; one a file."""

PARTS = "stream part"
