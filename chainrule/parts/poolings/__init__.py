"""Poolings: how the vectors of a sequence become one."""

PARTS = "pooling"
