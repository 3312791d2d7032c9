"""Word vectors: how they are trained, and the store that answers questions about them."""
