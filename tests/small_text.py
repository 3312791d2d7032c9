"""Small texts of which something can be learned: beasts eat and sleep, tools cut and break, but for one in ten."""

import numpy as np

BEASTS, TOOLS = ["cat", "dog", "cow", "hen", "fox"], ["saw", "axe", "pin", "rod", "pan"]


def small_text(words=23, length=700, seed=0, unit=13):
    """Random words with a Zipf-like law, in units of `unit` words; a few ids are the unknown word's."""
    from chainrule.vectors.text import listed, numbered

    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, words + 1)
    ids = 3 + rng.choice(words, size=length, p=chances / chances.sum())
    ids[::29] = 0
    ids[unit::unit] = 2
    return numbered(ids.astype(np.uint16), listed([f"w{i}".encode() for i in range(words)]))


def lines_of_two_kinds(count=3000):
    """Two kinds of words that stand in two kinds of places."""
    rng = np.random.default_rng(0)
    verbs = ["eats", "sleeps", "runs", "drinks"], ["cuts", "breaks", "bends", "rusts"]
    for _ in range(count):
        kind = rng.integers(2)
        noun = [BEASTS, TOOLS][kind][rng.integers(5)]
        first, second, last = ([verbs, verbs, [["here"], ["there"]]][place][kind ^ (rng.random() < 0.1)]
                               for place in range(3))
        yield f"the {noun} {rng.choice(first)} and {rng.choice(second)} {last[0]}"


def labeled_texts(count, seed):
    """Sentences on a beast or a tool, with a label that is wrong for one in twenty."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        kind = int(rng.integers(2))
        nouns = [["horse", "dog", "cat", "cow"], ["hammer", "saw", "knife", "axe"]]
        noun = rng.choice(nouns[kind ^ int(rng.random() < 0.05)])
        how = rng.choice(["old", "new", "here"])
        yield ["beast", "tool"][kind], f"the {noun} is {how} , he said \"{rng.integers(50)}\""
