"""The units that the bootstrap resamples: documents if there are enough, else stretches of consecutive text.

Neighboring lines of a text are alike, so drawing them one by one makes intervals too narrow. Of 118 excerpts of 200
lines of WikiText-2, under a trigram of the Penn Treebank, 66 intervals over lines held the loss of the whole text, and
80 over stretches; an excerpt of few subjects says less of the others than any interval over its parts can know.
"""

from __future__ import annotations

import numpy as np

from chainrule.evaluation.totals import Totals, Units, block_totals, unit_totals
from chainrule.protocols import LanguageModel, Tokenizer

FEW = 20  # documents; below this many, stretches of consecutive text are drawn
STRETCHES, SMALLEST, LARGEST = 40, 16, 8192  # how many stretches there should be, and their bytes


def stretch_bytes(total: int) -> int:
    """About how many bytes a stretch has, for a text of `total` bytes."""
    return min(LARGEST, max(SMALLEST, total // STRETCHES))


def first_lines(bytes_R: np.ndarray) -> np.ndarray:
    """The first line of each stretch, from the bytes of all lines: no line is cut."""
    begins = np.cumsum(bytes_R) - bytes_R
    total = int(np.sum(bytes_R))
    found = np.unique(np.searchsorted(begins, np.arange(0, max(1, total), stretch_bytes(total))))
    return found[found < len(bytes_R)]


def drawn(model: LanguageModel, tokenizer: Tokenizer, encoded: Units, unit: str) -> Totals:
    """The sums of the model's losses over each group that is resampled; `unit` is what a unit of the text is."""
    bytes_R = np.asarray(encoded.bytes)
    firsts = np.arange(len(bytes_R)) if unit == "document" else first_lines(bytes_R)
    if len(firsts) >= FEW:
        return unit_totals(model, tokenizer, encoded).grouped(firsts)
    share = len(encoded.ids) / max(1, int(bytes_R.sum()))  # tokens of a byte
    return block_totals(model, tokenizer, encoded, max(1, round(share * stretch_bytes(int(bytes_R.sum())))))
