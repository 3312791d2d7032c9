"""A few hundred labeled texts of which something can be learned: beasts and tools, in files of three kinds."""

import csv

import numpy as np
import pytest

BEASTS, TOOLS = ["horse", "dog", "cat", "cow"], ["hammer", "saw", "knife", "axe"]


def sentences(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        kind = int(rng.integers(2))
        noun = rng.choice([BEASTS, TOOLS][kind ^ int(rng.random() < 0.05)])
        how = rng.choice(["old", "new", "here"])
        yield ["beast", "tool"][kind], f"the {noun} is {how} , he said \"{rng.integers(50)}\""


@pytest.fixture(scope="session")
def kinds_folder(tmp_path_factory):
    """train and test as .txt with prefixes, .csv and .tsv with a header."""
    folder = tmp_path_factory.mktemp("labeled")
    for name, count, seed in (("train", 400, 0), ("test", 100, 1)):
        rows = list(sentences(count, seed))
        (folder / f"{name}.txt").write_text("".join(f"__label__{label} {text}\n" for label, text in rows))
        (folder / f"{name}.tsv").write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows))
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("label", "text"), *rows])
    return folder
