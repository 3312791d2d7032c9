"""Augmentations: how recordings are changed at random in training, one a file."""

PARTS = "augmentation"
