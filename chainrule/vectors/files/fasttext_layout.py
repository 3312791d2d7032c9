"""What a fastText model file holds, version 12: settings, a dictionary, the input matrix, the output matrix.

All numbers are little-endian: magic, version: i4; 12 settings: i4; sample: f8; entries, words, labels: i4; tokens,
pruned: i8; of each entry its word, a zero byte, count: i8, kind: i1; then two matrices, each with quantized: ?; rows,
columns: i8; numbers: f4. The input has a row for each word and then one for each bucket of n-grams. As in
fastText's own loadModel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAGIC, VERSION = 793712314, 12
SETTINGS = ("dimension", "window", "epochs", "min_count", "negative", "word_ngrams", "loss", "model", "bucket", "min_n",
            "max_n", "update_rate")
LOSSES = {1: "hierarchical_softmax", 2: "negative_sampling", 3: "softmax"}
CBOW, SKIPGRAM, SUPERVISED = 1, 2, 3
END = b"</s>"  # has a row of its own and no n-grams


@dataclass(frozen=True)
class FastTextModel:
    """A model of words: `settings` by name and `sample`; `words` with `counts`; `inputs` and `outputs`."""

    settings: dict[str, int]
    sample: float
    words: list[str]
    names: list[bytes]  # as they are spelled in the file, which may be no UTF-8
    counts: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shortest and longest n-gram, and the number of buckets."""
        return self.settings["min_n"], self.settings["max_n"], self.settings["bucket"]
