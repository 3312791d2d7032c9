"""Formats that other programs read and write, one a file: what `chainrule export` and `chainrule import` speak."""

PARTS = "format"
