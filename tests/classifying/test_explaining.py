"""What each feature adds: the features are those that the model counts, and their parts add up to the scores."""

from collections import Counter

import numpy as np
import pytest

import chainrule
from chainrule.classifying.explaining import features_of
from chainrule.classifying.features import NO_ROW

TEXTS = [b"the cat sat on the mat", b"unseen words here", b"the", b"the the the cat \xc3\xa4pfel"]
FAST = ["model.dimension=6", "training.lr=1", "training.epochs=20", "training.threads=1", "model.bucket=1000"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explaining")
    (folder / "train.txt").write_text("__label__beast the cat sat on the mat\n__label__tool the saw cut the log äpfel\n"
                                      "__label__plant a tree grows in the wood\n" * 9)
    return folder


def trained(folder, name, *how):
    chainrule.train("text-classifier", folder / "train.txt", folder / name, overrides=[*FAST, *how], force=True)
    return chainrule.load(folder / name).model


@pytest.mark.parametrize("how", [[], ["model.word_ngrams=3"], ["model.min_n=2", "model.max_n=4"],
                                 ["model.word_ngrams=2", "model.min_n=3", "model.max_n=3"]], ids=str)
def test_the_features_are_those_that_the_model_counts(folder, how):
    model = trained(folder, "run", *how)
    for text in TEXTS:
        found = Counter(each.row for each in features_of(model.features, text))
        bag = model.features.plain_bags([text])
        size, expected = int(bag.sizes[0]), Counter(dict(zip(bag.members.tolist(), bag.weights.tolist(), strict=True)))
        assert sum(found.values()) == size
        del found[NO_ROW]
        assert found == expected


@pytest.mark.parametrize("how", [[], ["model.word_ngrams=2"], ["model.min_n=2", "model.max_n=4"]], ids=str)
def test_the_parts_of_a_softmax_add_up_to_the_difference_of_two_labels(folder, how):
    model = trained(folder, "run", *how)
    for text in TEXTS:
        logs = dict(zip(model.labels, model.log_probabilities([text])[0].astype(float), strict=True))
        parts = model.evidence(text, "beast", "tool")
        assert sum(value for _, value in parts) == pytest.approx(logs["beast"] - logs["tool"], abs=2e-4)


def test_the_parts_of_one_vs_all_add_up_to_the_difference_of_logits(folder):
    model = trained(folder, "own", "model.loss=one_vs_all")
    p = dict(zip(model.labels, model.probabilities([TEXTS[0]])[0].astype(float), strict=True))
    logit = {label: np.log(value) - np.log1p(-value) for label, value in p.items()}
    parts = sum(value for _, value in model.evidence(TEXTS[0], "beast", "plant"))
    assert parts == pytest.approx(logit["beast"] - logit["plant"], abs=1e-3)


def test_a_quantized_model_explains_itself_too(folder):
    trained(folder, "whole")
    chainrule.quantize(folder / "whole", folder / "small")
    model = chainrule.load(folder / "small").model
    logs = dict(zip(model.labels, model.log_probabilities([TEXTS[0]])[0].astype(float), strict=True))
    parts = sum(value for _, value in model.evidence(TEXTS[0], "beast", "tool"))
    assert parts == pytest.approx(logs["beast"] - logs["tool"], abs=2e-4)


def test_a_tree_of_labels_has_no_parts(folder):
    assert trained(folder, "tree", "model.loss=hierarchical_softmax").evidence(TEXTS[0], "beast", "tool") is None
