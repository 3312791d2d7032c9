"""Small texts and recipes that whole comparisons run on, and one thread for each of their processes."""

import random

import pytest

NEURAL = """family: neural
tokenizer: bytes
model: {pattern: r, width: 16, context: 16, r: lstm, position: none}
training: {budget: {steps: 5}, batch: 4, keep: 1, log_every: 5}
"""


@pytest.fixture(autouse=True)
def one_thread(monkeypatch, warm_trials):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """120 documents of a few sentences each: every document is a passage of the split."""
    chance, folder = random.Random(0), tmp_path_factory.mktemp("corpus")
    nouns, verbs = ["cat", "dog", "bird", "fish", "horse", "Käfer"], ["sees", "likes", "chases", "hears"]
    for number in range(120):
        lines = [f"The {chance.choice(nouns)} {chance.choice(verbs)} the {chance.choice(nouns)} {chance.randrange(20)}."
                 for _ in range(chance.randrange(3, 9))]
        (folder / f"{number:03}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def neural(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipes") / "small.yaml"
    path.write_text(NEURAL)
    return path
