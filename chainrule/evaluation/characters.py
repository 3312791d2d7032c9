"""How many characters a text has, for bits per character."""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.totals import Units
from chainrule.text.corpora import Corpus


def characters(corpus: Corpus, encoded: Units) -> int:
    """Code points in the units: their bytes, less those that continue a character (10xxxxxx in UTF-8).

    Blank lines that were left out are white space of one byte each, so they have none of the latter.
    """
    continuing = 0
    for chunk in corpus.chunks():
        if chunk.data.isascii():
            continue
        continuing += int(np.count_nonzero((np.frombuffer(chunk.data, np.uint8) & 0xC0) == 0x80))
    return int(encoded.bytes.sum()) - continuing
