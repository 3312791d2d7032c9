"""ARPA files: the text format in which n-gram models travel between KenLM, SRILM, IRSTLM and this package."""
