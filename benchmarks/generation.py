"""Generating beside `transformers`: tokens a second of our decode loop and of GPT2LMHeadModel.generate with its cache.

    python benchmarks/generation.py --rounds 5

All have the same shape, and draw from the whole distribution. Ours is as `chainrule generate` writes it, and beside it
as torch does. Times are the best of several rounds in turns; a ratio above 1 says that we are faster. `ratio_cpu` is
that of processor time, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from peers import CHARACTERS, SMALL, Size, best_seconds, ours, parameters, ratios, record, transformers_gpt2

from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.models.language import NeuralLanguageModel
from chainrule.protocols import LanguageModel
from chainrule.recipe.registry import build

PROMPT = 8  # tokens


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--tokens", type=int, default=200, help="new tokens a row, at most block − prompt − 1")
    options.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    options.add_argument("--sizes", nargs="+", choices=["small", "characters"], default=["small", "characters"])
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    for name in given.sizes:
        size = {"small": SMALL, "characters": CHARACTERS}[name]
        for batch in given.batches:
            compare(size, batch, given)


def compare(size: Size, batch: int, given: argparse.Namespace) -> None:
    count = min(given.tokens, size.context - PROMPT - 1)
    peer, stack = transformers_gpt2(size).eval(), ours(size).eval()
    model = NeuralLanguageModel(stack, start=0)
    works = {"chainrule": decoding(model.to_write(), batch, count), "with torch": decoding(model, batch, count),
             "transformers": generating(peer, batch, count)}
    best = best_seconds(works, given.rounds)
    record(given.out, benchmark="generation", size=size, batch=batch, new_tokens=count, threads=given.threads,
           parameters={"chainrule": parameters(stack), "transformers": parameters(peer)},
           tokens_per_second={name: round(batch * count / taken.wall, 1) for name, taken in best.items()},
           **ratios(best["chainrule"], best["transformers"]))


def decoding(model: LanguageModel, batch: int, count: int) -> Callable[[], object]:
    """Our one decode loop, drawing; no token is the end mark, so every row is written in full."""
    prompts_BT = np.ones((batch, PROMPT - 1), dtype=np.int32)
    strategy = build("generation/strategies", "sample")
    return lambda: decode(model, prompts_BT, strategy, marks=Marks(0, -1), max_tokens=count)


def generating(peer: torch.nn.Module, batch: int, count: int) -> Callable[[], object]:
    prompts_BT = torch.ones(batch, PROMPT, dtype=torch.long)
    mask_BT = torch.ones_like(prompts_BT)
    return lambda: peer.generate(prompts_BT, attention_mask=mask_BT, do_sample=True, top_k=0, max_new_tokens=count,
                                 min_new_tokens=count, use_cache=True, pad_token_id=0)


if __name__ == "__main__":
    main()
