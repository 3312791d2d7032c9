"""Texts as arrays of ids for a machine that has torch and little else; see gpu_quality.py.

    python benchmarks/gpu_data.py characters gpu-data/shakespeare.npz train.txt valid.txt
    python benchmarks/gpu_data.py words gpu-data/ptb.npz ptb.train.txt.gz ptb.valid.txt.gz ptb.test.txt.gz
    python benchmarks/gpu_data.py byte_pair:16384 runs/gpu/novels.npz novels95/train.txt.xz novels95/valid.txt.xz
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from chainrule.recipe.registry import build
from chainrule.text.corpora import open_corpus
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions


def main(tokenizer_name: str, out: str, train: str, *others: str) -> None:
    """The tokenizer is made from the training text alone; `name:size` says how many tokens it has."""
    options = TextOptions()
    name, _, size = tokenizer_name.partition(":")
    trainer = build("text/tokenizers", {"name": name, "size": int(size)} if size else name)
    tokenizer, text = fit_and_encode(open_corpus(train, options), trainer, options)
    held = [encode(open_corpus(other, options), tokenizer, options) for other in others]
    parts = {name: np.asarray(each.ids) for name, each in zip(("valid", "test"), held, strict=False)}
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, train=np.asarray(text.ids), **parts, bytes=int(held[0].bytes.sum()),
                        size=tokenizer.vocabulary_size, start=tokenizer.start, end=tokenizer.end)


if __name__ == "__main__":
    main(*sys.argv[1:])
