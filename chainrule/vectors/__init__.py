"""Word vectors: how they are trained, stored and searched."""
