"""How good is a model: perplexity, bits per byte, and how sure we are."""
