"""Whole models: a sentence of sublayers between an embedding and a head."""
