"""n-gram language models: counts, smoothing, tables, ARPA."""
