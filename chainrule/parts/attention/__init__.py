"""Where attention looks and how it weighs: one way a file. Projections, heads, cache and positions are the mixer's."""

PARTS = "attention part"
