"""How a sublayer is connected to the residual stream, one wiring a file."""

PARTS = "wiring"
