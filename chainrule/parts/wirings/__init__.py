"""How a sublayer is put into the stream, one wiring a file."""

PARTS = "wiring"
