"""Generating with GPT-2 124M on a GPU beside transformers: tokens a second, prompt 16, 256 new tokens, bfloat16.

    python benchmarks/gpu_generation.py --out results.jsonl

`chainrule` is `generate`, the function that `chainrule generate` calls: tokens are chosen on the device, in one CUDA
graph with the model's step. `plain` is the same without graphs, token by token. `transformers` is its `generate` with a
static cache, and with a dynamic one. The first call of each, which records or compiles, is not measured. Needs torch,
NumPy, safetensors, array-api-compat and (for the peer) transformers; `--tiny` runs the same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import GPT2, Size, ours, record, transformers_gpt2

from chainrule.generation.generate import generate
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.writer import GraphWriter

TINY = Size(2, 32, 2, 64, 1, 101)
WAYS: dict[str, tuple[str, list[Any]]] = {
    "greedy": ("greedy", []), "sample": ("sample", []),
    "temperature, top-k": ("sample", [{"name": "temperature", "temperature": 0.8}, {"name": "top_k", "k": 40}]),
    "top-p": ("sample", [{"name": "top_p", "p": 0.95}]),
    "repetition penalty, min-p": ("sample", ["repetition_penalty", {"name": "min_p", "share": 0.05}])}


class Numbers:
    """Ids as text: all that `generate` asks of a tokenizer; no id is the end mark."""

    unknown, start, end = None, 0, -1

    def encode(self, text: str) -> np.ndarray:
        return np.array(text.split(), np.int32)

    def decode(self, ids: np.ndarray) -> str:
        return " ".join(map(str, ids))


class Plain(NeuralLanguageModel):
    """Token by token, as the model is."""

    def to_write(self) -> Plain:
        return self


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    options.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    options.add_argument("--prompt", type=int, default=16)
    options.add_argument("--tokens", type=int, default=256)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=10, help="the most for the rounds of one way")
    options.add_argument("--no-peers", action="store_true", help="leave transformers out")
    options.add_argument("--tiny", action="store_true", help="a model of a few thousand parameters, on the CPU")
    given = options.parse_args()
    size = TINY if given.tiny else GPT2
    device, dtype = ("cpu", torch.float32) if given.tiny else ("cuda", torch.bfloat16)
    torch.manual_seed(0)
    stack = ours(size).to(device=device, dtype=dtype).eval().requires_grad_(False)
    model = GraphWriter(stack, 0)
    for batch in given.batches:
        here = replace(size, batch=batch)
        for way in given.ways:
            texts = measure(given, here, way, "chainrule", partial(ours_written, model, here, way, given))
            if way in ("greedy", "sample"):
                plain = measure(given, here, way, "plain", partial(ours_written, Plain(stack, 0), here, way, given))
                record(given.out, benchmark="gpu_generation", batch=batch, way=way,
                       agreement=round(float((texts == plain).mean()), 3))
        if not given.no_peers:
            peers(given, here, device, dtype)


def ours_written(model: Any, size: Size, way: str, given: argparse.Namespace) -> np.ndarray:
    """(B, N) ids: one prompt, so many texts; greedy ones are all alike, so that takes rows of another prompt each."""
    strategy, filters = WAYS[way]
    if strategy == "greedy":
        from chainrule.generation.decoder import decode
        from chainrule.generation.rows import Marks
        from chainrule.recipe.registry import build

        found = decode(model, prompts(size, given), build("generation/strategies", "greedy"), marks=Marks(0, -1),
                       max_tokens=given.tokens)
        return np.array([drafts[0].written for drafts in found])
    text = " ".join(map(str, prompts(size, given)[0]))
    return np.array([each.ids for each in generate(model, Numbers(), text, num=size.batch, max_tokens=given.tokens,
                                                   strategy=strategy, filters=filters)])


def peers(given: argparse.Namespace, size: Size, device: str, dtype: torch.dtype) -> None:
    peer = transformers_gpt2(size).to(device=device, dtype=dtype).eval()
    ids = torch.from_numpy(prompts(size, given)).to(device)
    for way, how in (("greedy", {"do_sample": False}), ("sample", {"do_sample": True, "top_k": 0})):
        for cache in ("static", "dynamic"):
            def write(how: dict[str, Any] = how, cache: str = cache) -> np.ndarray:
                found = peer.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=given.tokens,
                                      min_new_tokens=given.tokens, pad_token_id=0, cache_implementation=cache, **how)
                return found[:, ids.shape[1]:].cpu().numpy()

            measure(given, size, way, f"transformers, {cache} cache", write)


def prompts(size: Size, given: argparse.Namespace) -> np.ndarray:
    return np.arange(1, 1 + size.batch * given.prompt).reshape(size.batch, -1) % (size.vocabulary_size - 1) + 1


def measure(given: argparse.Namespace, size: Size, way: str, who: str, write: Callable[[], np.ndarray]) -> np.ndarray:
    """The median rate of several rounds after one that is not measured; what was written."""
    began = time.perf_counter()
    texts, first = write(), time.perf_counter() - began
    rates: list[float] = []
    began = time.perf_counter()
    while len(rates) < given.rounds and (not rates or time.perf_counter() - began < given.seconds):
        before = time.perf_counter()
        write()
        rates.append(size.batch * given.tokens / (time.perf_counter() - before))
    record(given.out, benchmark="gpu_generation", who=who, way=way, batch=size.batch, prompt=given.prompt,
           tokens=given.tokens, tokens_per_second=round(statistics.median(rates)),
           spread=[round(min(rates)), round(max(rates))], first_seconds=round(first, 2))
    return texts


if __name__ == "__main__":
    main()
