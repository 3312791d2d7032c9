"""Whole models: a pattern of sublayers between an embedding and a head."""
