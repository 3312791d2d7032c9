"""What moves information along time, one mixer a file."""

PARTS = "mixer"
