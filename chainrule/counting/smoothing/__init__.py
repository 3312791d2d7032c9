"""One smoothing method a file."""

PARTS = "smoothing method"
