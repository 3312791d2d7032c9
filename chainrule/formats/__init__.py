"""Formats of other programs for `chainrule export` and `chainrule import`, one a file."""

PARTS = "format"
