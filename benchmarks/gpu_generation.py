"""Generating with GPT-2 124M on a GPU: tokens a second of one row and of 64, prompt 16, 256 new tokens, bfloat16.

    python benchmarks/gpu_generation.py --out results.jsonl

The decode loop of `chainrule generate`, with the model as it is (`plain`) and as it writes (`steps`: of a fixed shape,
as a CUDA graph). The reference on one H200, tokens/s at batch 1 and 64: transformers with a dynamic cache 205 and
11,231, with a static cache 723 and 36,796. Needs torch, NumPy, safetensors and array-api-compat only; `--tiny` runs the
same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import GPT2, Size, ours, record

from chainrule.generation.decode import Marks, decode
from chainrule.models.fixed import FixedWriter
from chainrule.models.language import NeuralLanguageModel
from chainrule.recipe.registry import build

TINY = Size(2, 32, 2, 64, 1, 101)
REFERENCE = {1: 723, 64: 36_796}  # tokens/s: transformers with a static cache on one H200
WAYS = {"plain": NeuralLanguageModel, "steps": FixedWriter}
STRATEGIES = ("greedy", "sample")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    options.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES))
    options.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    options.add_argument("--prompt", type=int, default=16)
    options.add_argument("--tokens", type=int, default=256)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=15, help="the most for the rounds of one way")
    options.add_argument("--tiny", action="store_true", help="a model of a few thousand parameters, on the CPU")
    given = options.parse_args()
    size = TINY if given.tiny else GPT2
    device = torch.device("cpu" if given.tiny else "cuda")
    torch.manual_seed(0)
    dtype = torch.float32 if given.tiny else torch.bfloat16
    stack = ours(size).to(device=device, dtype=dtype).eval().requires_grad_(False)
    for batch in given.batches:
        for strategy in given.strategies:
            plain, steps = (compare(stack, replace(size, batch=batch), way, strategy, given) for way in WAYS)
            record(given.out, benchmark="gpu_generation", batch=batch, strategy=strategy,
                   agreement=round(float((plain == steps).mean()), 3))


def compare(stack: Any, size: Size, way: str, strategy: str, given: argparse.Namespace) -> np.ndarray:
    """Measures one way; what it wrote."""
    prompts_BT = np.arange(1, 1 + size.batch * given.prompt).reshape(size.batch, -1) % size.vocabulary_size
    chosen = build("generation/strategies", strategy)

    def write() -> np.ndarray:
        found = decode(WAYS[way](stack, 0), prompts_BT, chosen, marks=Marks(0, -1), max_tokens=given.tokens)
        finished()
        return np.array([drafts[0].written for drafts in found])

    ids, rates = write(), []
    began = time.perf_counter()
    while len(rates) < given.rounds and (not rates or time.perf_counter() - began < given.seconds):
        before = time.perf_counter()
        write()
        rates.append(size.batch * given.tokens / (time.perf_counter() - before))
    rate = statistics.median(rates)
    record(given.out, benchmark="gpu_generation", way=way, strategy=strategy, batch=size.batch, prompt=given.prompt,
           tokens=given.tokens, tokens_per_second=round(rate), spread=[round(min(rates)), round(max(rates))],
           ratio_to_transformers_static=round(rate / REFERENCE.get(size.batch, rate), 2))
    return ids


def finished() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
