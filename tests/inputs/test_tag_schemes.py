"""Schemes of tags are detected, invalid sequences are repaired and counted, and entities survive conversion."""

import numpy as np
import pytest

from chainrule.errors import DataError, OptionError
from chainrule.inputs.tag_schemes import SCHEMES, converted, detect, repaired, spans, written

MARKING = [each for each in SCHEMES if each != "plain"]


def entities(draw, length):
    """Random entities side by side or apart, of two types."""
    found, place = [], 0
    while place < length:
        size = int(draw.integers(1, 4))
        if draw.random() < 0.6 and place + size <= length:
            found.append((str(draw.choice(["PER", "A-B"])), place, place + size))
        place += size
    return found


@pytest.mark.parametrize("scheme", MARKING)
def test_reading_reverses_writing(scheme):
    draw = np.random.default_rng(0)
    for _ in range(200):
        length = int(draw.integers(0, 12))
        wanted = entities(draw, length)
        tags = written(wanted, length, scheme)
        assert spans(tags, scheme) == wanted and repaired(tags, scheme) == (tags, 0)
        for other in MARKING:
            assert converted(converted(tags, scheme, other), other, scheme) == tags


@pytest.mark.parametrize(("scheme", "tags", "expected", "changes"), [
    ("bio", "O I-PER I-PER", "O B-PER I-PER", 1),
    ("bio", "B-LOC I-PER", "B-LOC B-PER", 1),
    ("bio", "I-PER B-PER I-PER O", "B-PER B-PER I-PER O", 1),
    ("bio", "I I O B I", "B I O B I", 1),
    ("iob1", "O B-PER I-PER B-PER", "O I-PER I-PER B-PER", 1),
    ("bioes", "B-PER O", "S-PER O", 1),
    ("bioes", "I-PER I-PER O E-LOC", "B-PER E-PER O S-LOC", 3),
    ("bioes", "S-PER I-PER E-PER", "S-PER B-PER E-PER", 1),
    ("plain", "NOUN I-PER", "NOUN I-PER", 0),
])
def test_invalid_sequences_are_repaired_and_changes_counted(scheme, tags, expected, changes):
    assert repaired(tags.split(), scheme) == (expected.split(), changes)
    assert repaired(expected.split(), scheme) == (expected.split(), 0)


@pytest.mark.parametrize(("sentences", "scheme"), [
    (["B-PER I-PER O", "O B-LOC"], "bio"),
    (["I-PER I-PER O", "O I-LOC B-LOC"], "iob1"),
    (["B-PER E-PER O", "S-LOC"], "bioes"),
    (["O I-PER", "B-LOC I-LOC", "B-LOC O", "O B-PER"], "bio"),  # with one mistake
    (["B I O"], "bio"),
    (["NOUN VERB", "B-PER"], "plain"),
    (["O O", "O"], "plain"),
    ([], "plain"),
    (["-LRB- NN -RRB-"], "plain"),
    (["B-LOC"], "bio"),
])
def test_schemes_are_detected(sentences, scheme):
    assert detect(each.split() for each in sentences) == scheme


@pytest.mark.parametrize("scheme", MARKING)
def test_every_scheme_is_detected_where_entities_touch(scheme):
    draw = np.random.default_rng(1)
    sentences = [written([("PER", 0, 1), ("PER", 1, 3), *((kind, 3 + b, 3 + e) for kind, b, e in entities(draw, 9))],
                         12, scheme) for _ in range(20)]
    assert detect(sentences) == scheme


def test_bilou_is_told():
    with pytest.raises(DataError, match="This is BILOU: write E for L, and S for U"):
        detect([["B-PER", "L-PER", "O", "U-LOC"]])


def test_tags_of_another_scheme_are_told():
    with pytest.raises(DataError, match="tag = 'S-PER', expected O, B-TYPE, I-TYPE for the scheme 'bio'"):
        spans(["O", "S-PER"], "bio")
    with pytest.raises(OptionError, match="scheme = 'plain', expected one of bio, iob1, bioes"):
        converted(["NOUN"], "plain", "bio")
