"""Generating with GPT-2 124M on a GPU: tokens a second of one row and of 64, prompt 16, 256 new tokens, bfloat16.

    python benchmarks/gpu_generation.py --out results.jsonl

Ways: `decode` (the decode loop of `chainrule generate`), and steps of fixed shape run `eager`, through `compile`, as a
CUDA `graph`, or as a graph of compiled steps (`compile+graph`). The reference on one H200, tokens/s at batch 1 and 64:
transformers with a dynamic cache 205 and 11,231, with a static cache 723 and 36,796. Needs torch, NumPy and safetensors
only (`decode` array-api-compat too); `--tiny` runs the same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import GPT2, Size, ours, record

from chainrule.models.fixed import FixedDecoder

TINY = Size(2, 32, 2, 64, 1, 101)
REFERENCE = {1: 723, 64: 36_796}  # tokens/s: transformers with a static cache on one H200
WAYS = ("eager", "graph", "compile", "compile+graph", "decode")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    options.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
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
        written = {way: compare(stack, replace(size, batch=batch), way, given) for way in given.ways}
        reference = next(iter(written.values()))
        record(given.out, benchmark="gpu_generation", batch=batch, agreement={
            way: round(float((ids == reference).float().mean()), 3) for way, ids in written.items()})


def compare(stack: Any, size: Size, way: str, given: argparse.Namespace) -> torch.Tensor:
    """Measures one way; what it wrote."""
    device = stack.embedding.weight.device
    prompts_BT = torch.arange(size.batch * given.prompt, device=device).view(size.batch, -1) % size.vocabulary_size
    prompts_BT[:, 0] = 0  # <s>
    began = time.perf_counter()
    write = writer(stack, size, way, given.prompt + given.tokens)
    ids = write(prompts_BT, given.tokens)
    finished()
    first, rates = time.perf_counter() - began, []
    began = time.perf_counter()
    while len(rates) < given.rounds and (not rates or time.perf_counter() - began < given.seconds):
        before = time.perf_counter()
        write(prompts_BT, given.tokens)
        finished()
        rates.append(size.batch * given.tokens / (time.perf_counter() - before))
    rate = statistics.median(rates)
    record(given.out, benchmark="gpu_generation", way=way, batch=size.batch, prompt=given.prompt, tokens=given.tokens,
           tokens_per_second=round(rate), spread=[round(min(rates)), round(max(rates))],
           first_seconds=round(first, 1), ratio_to_transformers_static=round(rate / REFERENCE.get(size.batch, rate), 2))
    return ids.cpu()


def writer(stack: Any, size: Size, way: str, room: int) -> Callable[[torch.Tensor, int], torch.Tensor]:
    if way == "decode":
        return lambda prompts_BT, count: decoded(stack, prompts_BT, count)
    decoder = FixedDecoder(stack, size.batch, room)
    if "compile" in way:
        decoder = decoder.compiled()
    if "graph" in way and torch.cuda.is_available():
        decoder = decoder.captured()
    return decoder.write


def decoded(stack: Any, prompts_BT: torch.Tensor, count: int) -> torch.Tensor:
    """The decode loop, greedily; the model reads <s> by itself."""
    from chainrule.generation.decode import Marks, decode
    from chainrule.models.language import NeuralLanguageModel
    from chainrule.registry import build

    model = NeuralLanguageModel(stack, start=0)
    found = decode(model, prompts_BT[:, 1:].cpu().numpy(), build("generation/strategies", "greedy"),
                   marks=Marks(0, -1), max_tokens=count)
    return torch.from_numpy(np.array([drafts[0].written for drafts in found]))


def finished() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
