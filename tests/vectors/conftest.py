"""A small text of which vectors can learn something: two kinds of words that stand in two kinds of places."""

import numpy as np
import pytest
from small_text import BEASTS, TOOLS


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """Sentences in which beasts eat and sleep, and tools cut and break, but for one in ten."""
    rng = np.random.default_rng(0)
    lines = []
    verbs = ["eats", "sleeps", "runs", "drinks"], ["cuts", "breaks", "bends", "rusts"]
    for _ in range(3000):
        kind = rng.integers(2)
        noun = [BEASTS, TOOLS][kind][rng.integers(5)]
        first, second, last = ([verbs, verbs, [["here"], ["there"]]][place][kind ^ (rng.random() < 0.1)]
                               for place in range(3))
        lines.append(f"the {noun} {rng.choice(first)} and {rng.choice(second)} {last[0]}")
    path = tmp_path_factory.mktemp("kinds") / "kinds.txt"
    path.write_text("\n".join(lines) + "\n")
    return path
