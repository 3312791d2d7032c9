"""Text classification as fastText does it: the mean of word and n-gram vectors, and a linear classifier on it."""
