"""How good a model is: perplexity, bits per byte, and their confidence intervals."""
