"""Kinds of attention, one a file: which keys are seen and how they are weighed. The mixer does all the rest."""

PARTS = "attention part"
