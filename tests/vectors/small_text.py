"""Small texts for the tests of word vectors."""

import numpy as np

from chainrule.vectors.text import listed, numbered

BEASTS, TOOLS = ["cat", "dog", "cow", "hen", "fox"], ["saw", "axe", "pin", "rod", "pan"]


def small_text(words=23, length=700, seed=0, unit=13):
    """Random words with a Zipf-like law, in units of `unit` words; a few ids are the unknown word's."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, words + 1)
    ids = 3 + rng.choice(words, size=length, p=chances / chances.sum())
    ids[::29] = 0
    ids[unit::unit] = 2
    return numbered(ids.astype(np.uint16), listed([f"w{i}".encode() for i in range(words)]))
