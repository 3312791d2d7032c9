"""Functions with their derivatives, one module a file."""

PARTS = "engine module"
