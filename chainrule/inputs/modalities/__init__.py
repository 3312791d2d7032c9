"""Modalities: how one kind of input becomes arrays for a network, one a file."""

PARTS = "modality"
