"""Entity F1 equals seqeval's on random sequences of every scheme, valid and invalid, strict and not."""

import warnings

import numpy as np
import pytest

from chainrule.errors import DataError
from chainrule.evaluation.entities import entity_f1, f1_of, strict_spans
from chainrule.inputs.tag_schemes import PREFIXES, repaired, spans

pytest.importorskip("seqeval")
from seqeval import scheme as peers  # noqa: E402
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support  # noqa: E402

PEERS = {"bio": peers.IOB2, "iob1": peers.IOB1, "bioes": peers.IOBES}
TYPES = ("PER", "LOC", "A-B")


def random_tags(draw, scheme, valid):
    choices = ["O", "O", *(f"{prefix}-{kind}" for prefix in PREFIXES[scheme] for kind in TYPES)]
    tags = [str(draw.choice(choices)) for _ in range(draw.integers(1, 15))]
    return repaired(tags, scheme)[0] if valid else tags


def changed(draw, tags, scheme, valid):
    """As a model would predict them: mostly right."""
    found = [tag if draw.random() < 0.7 else other for tag, other in
             zip(tags, random_tags(draw, scheme, False) * 15, strict=False)]
    return repaired(found, scheme)[0] if valid else found


@pytest.mark.parametrize("valid", [True, False])
@pytest.mark.parametrize("scheme", PEERS)
def test_spans_are_seqevals(scheme, valid):
    draw = np.random.default_rng(0)
    for _ in range(1000):
        tags = random_tags(draw, scheme, valid)
        assert spans(tags, scheme) == [(kind, begin, end + 1) for kind, begin, end in get_entities(tags)]
        strict = [(each.tag, each.start, each.end) for each in peers.Tokens(tags, PEERS[scheme]).entities]
        assert strict_spans(tags, scheme) == strict
        if valid:
            assert strict == spans(tags, scheme)


@pytest.mark.parametrize("reading", [spans, strict_spans])
@pytest.mark.parametrize("valid", [True, False])
@pytest.mark.parametrize("scheme", PEERS)
def test_f1_is_seqevals(scheme, valid, reading):
    draw = np.random.default_rng(1)
    gold = [random_tags(draw, scheme, valid) for _ in range(1000)]
    predicted = [changed(draw, each, scheme, valid) for each in gold]
    found = entity_f1(gold, predicted, scheme, reading=reading)
    if reading is spans:
        expected = [precision_recall_fscore_support(gold, predicted, average=kind) for kind in ("micro", None)]
    else:
        from seqeval.metrics.v1 import precision_recall_fscore_support as strictly
        expected = [strictly(gold, predicted, average=kind, scheme=PEERS[scheme]) for kind in ("micro", None)]
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected[0][:3], abs=1e-12)
    assert 0.1 < found.f1 < 0.9
    table = [[found.per_type[kind][rate] for kind in sorted(TYPES)] for rate in ("precision", "recall", "f1", "gold")]
    np.testing.assert_allclose(table, np.stack(expected[1]), atol=1e-12)
    assert f1_of(found.counts.sum(axis=0)) == pytest.approx(found.f1)


def test_counts_of_sentences_are_those_of_each_by_itself():
    draw = np.random.default_rng(2)
    gold = [random_tags(draw, "bio", True) for _ in range(50)]
    predicted = [changed(draw, each, "bio", False) for each in gold]
    found = entity_f1(gold, predicted, "bio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = [precision_recall_fscore_support([one], [other], average="micro")[2]
                 for one, other in zip(gold, predicted, strict=True)]
    np.testing.assert_allclose(f1_of(found.counts), alone)


def test_nothing_to_find_scores_nothing():
    found = entity_f1([["O"], []], [["O"], []], "bio")
    assert (found.precision, found.recall, found.f1, found.per_type) == (0.0, 0.0, 0.0, {})


def test_unequal_lengths_are_told():
    with pytest.raises(DataError, match="sentence 2: tags = 1 predicted, expected 2"):
        entity_f1([["O"], ["O", "O"]], [["O"], ["O"]], "bio")
    with pytest.raises(DataError, match="sentences = 1 predicted, expected 2"):
        entity_f1([["O"], ["O"]], [["O"]], "bio")
