"""Measurements inside a stack: gradient norms, and the similarity of positions."""
