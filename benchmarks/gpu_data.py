"""Texts as arrays of ids for a machine that has torch and little else; see gpu_quality.py.

    python benchmarks/gpu_data.py characters gpu-data/shakespeare.npz train.txt valid.txt
    python benchmarks/gpu_data.py words gpu-data/ptb.npz ptb.train.txt.gz ptb.valid.txt.gz ptb.test.txt.gz
"""

from __future__ import annotations

import sys

import numpy as np

from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions


def main(tokenizer_name: str, out: str, train: str, *others: str) -> None:
    """The tokenizer is made from the training text alone."""
    options = TextOptions()
    tokenizer, text = fit_and_encode(open_corpus(train, options), build("text/tokenizers", tokenizer_name), options)
    held = [encode(open_corpus(other, options), tokenizer, options) for other in others]
    parts = {name: np.asarray(each.ids) for name, each in zip(("valid", "test"), held, strict=False)}
    np.savez(out, train=np.asarray(text.ids), **parts, bytes=int(held[0].bytes.sum()), size=tokenizer.vocabulary_size,
             start=tokenizer.start, end=tokenizer.end)


if __name__ == "__main__":
    main(*sys.argv[1:])
