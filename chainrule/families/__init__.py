"""One family of models a file: its options, how it is trained, how it is loaded."""

PARTS = "family"
