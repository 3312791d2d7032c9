"""fastText's own predictions, beside ours."""

import numpy as np


def peers_chances(peer, texts, labels):
    found = np.zeros((len(texts), len(labels)))
    for row, text in enumerate(texts):
        for chance, name in peer.f.predict(f"{text}\n", len(labels), 0.0, "strict"):  # `predict` fails with NumPy 2
            found[row, labels.index(name.removeprefix("__label__"))] = chance
    return found


def as_fasttext_says(model, texts):
    """Its sigmoid is a table of 512 numbers from −8 to 8, and it adds 1e-5 before it takes a logarithm."""
    if model.loss in ("softmax", "hierarchical_softmax"):
        return model.probabilities(texts) + 1e-5
    scores = model.hidden([text.encode() for text in texts]) @ model.outputs.T
    near = 1 / (1 + np.exp(8 - np.floor((scores + 8) * 32) / 32))
    return np.where(scores < -8, 0, np.where(scores > 8, 1, near)) + 1e-5


def compare(peer, model, texts):
    np.testing.assert_allclose(peers_chances(peer, texts, model.labels), as_fasttext_says(model, texts),
                               atol=5e-5 if model.loss == "hierarchical_softmax" else 1e-5)
