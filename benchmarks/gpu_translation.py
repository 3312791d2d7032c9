"""Training an encoder–decoder on a GPU, 6 + 6 layers of 512: tokens a second of source and target, beside peers.

    python benchmarks/gpu_translation.py --out results.jsonl --seconds 20 [--tiny]

Random tokens, no padding, pairs of 64 + 64, bfloat16, torch.compile, fused AdamW, a vocabulary of 37,000 whose table
source, target and head share. The peers are `nn.Transformer`, compiled with its loss, and transformers' Marian of the
same shape, compiled, each with the same optimizer; rounds of all take turns. Reference on one H200: nn.Transformer
1.28 M tokens/s. `--tiny` runs the same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import record
from torch import nn
from torch.nn import functional as F

from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.tasks._batch import Batch
from chainrule.tasks.translation import Translation
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState
from chainrule.training.torch_learner import TorchLearner


class Pairs:
    """The same random pairs at every step."""

    carries, fixed, known, evaluation_tokens, steps_per_epoch = False, True, None, 0, 1e9

    def __init__(self, rows: int, time: int, vocabulary: int):
        draw = np.random.default_rng(0)
        source, target = (draw.integers(0, vocabulary, (rows, time)) for _ in range(2))
        self.rows, self.context, self.tokens, self.tokens_per_step = rows, time, rows * time, 2 * rows * time
        self.one = Batch(target, np.roll(target, -1, axis=1), target.size, source=source)

    def batch(self, step: int) -> Batch:
        return self.one


class Peer(nn.Module):
    """`nn.Transformer` with one table, and its loss."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(torch.randn(512, width) * 0.02)
        self.body = nn.Transformer(width, heads, layers, layers, 4 * width, 0.0, batch_first=True, norm_first=True)

    def forward(self, source: torch.Tensor, target: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        mask = torch.full((target.shape[1],) * 2, -torch.inf, device=target.device).triu(1)
        x, y = (self.table(each) + self.place[:each.shape[1]] for each in (source, target))
        hidden = self.body(x, y, tgt_mask=mask, tgt_is_causal=True)
        return F.cross_entropy(F.linear(hidden, self.table.weight).flatten(0, 1).float(), wanted.flatten())


def marian(layers: int, width: int, heads: int, vocabulary: int) -> nn.Module:
    from transformers import MarianConfig, MarianMTModel

    return MarianMTModel(MarianConfig(
        vocab_size=vocabulary, d_model=width, encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, pad_token_id=0,
        eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=None, max_position_embeddings=512))


def ours(layers: int, width: int, heads: int, vocabulary: int, time: int) -> Stack:
    parts = {"s": {"name": "attention", "heads": heads, "bias": True}, "f": {"name": "mlp", "activation": "relu"},
             "x": {"name": "cross_attention", "heads": heads, "bias": True}}
    source = Shape(pattern=f"(sf)*{layers}", width=width, context=time, parts=parts, norm="layer", position="learned",
                   causal=False, shared_embedding=True)
    shape = Shape(pattern=f"(sxf)*{layers}", width=width, context=time, parts=parts, norm="layer", position="learned",
                  source=source)
    return Stack(shape, Sizes(vocabulary, vocabulary, source=Sizes(vocabulary, vocabulary)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path)
    options.add_argument("--seconds", type=float, default=20, help="of measuring, for each")
    options.add_argument("--rows", type=int, default=512)
    options.add_argument("--time", type=int, default=64)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    layers, width, heads, vocabulary = (2, 32, 2, 101) if given.tiny else (6, 512, 8, 37_000)
    rows, time_ = (4, 8) if given.tiny else (given.rows, given.time)
    device = torch.device("cpu" if given.tiny else "cuda")
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(0)
    steps: dict[str, Callable[[], Any]] = {"chainrule": _learner(
        ours(layers, width, heads, vocabulary, time_).to(device), Pairs(rows, time_, vocabulary), given.tiny)}
    batch = Pairs(rows, time_, vocabulary).one
    arrays = [torch.from_numpy(each).to(device) for each in (batch.source, batch.inputs, batch.targets)]
    steps["nn.Transformer"] = _peer(Peer(layers, width, heads, vocabulary).to(device), lambda m: m(*arrays), given.tiny)
    try:
        hers = marian(layers, width, heads, vocabulary).to(device)
        steps["transformers Marian"] = _peer(hers, lambda m: _marian_loss(m, *arrays), given.tiny)
    except ImportError as error:
        print(f"without transformers: {error}")
    rates = rounds(steps, 2 * rows * time_, given.seconds)
    for name, own in rates.items():
        record(given.out, benchmark="gpu_translation", model=name, rows=rows, time=time_,
               tokens_per_second=round(statistics.median(own)), spread=[round(min(own)), round(max(own))],
               ratio=round(statistics.median(rates["chainrule"]) / statistics.median(own), 3))


def _learner(stack: Stack, data: Pairs, tiny: bool) -> Callable[[], Any]:
    plan = Plan(Budget(steps=1), batch=data.rows, precision="bfloat16", keep=0, compile="off" if tiny else "on")
    learner, state = TorchLearner(stack, Translation(), data, plan, Callbacks()), TrainingState(accumulation=1)
    return lambda: learner.step(state, 0.5)


def _peer(model: nn.Module, loss: Callable[[Any], torch.Tensor], tiny: bool) -> Callable[[], Any]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    run = loss if tiny else torch.compile(loss)
    kind = next(model.parameters()).device.type

    def step() -> float:
        with torch.autocast(kind, torch.bfloat16):
            found = run(model)
        found.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return found.item()

    return step


def _marian_loss(model: Any, source: torch.Tensor, target: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    logits = model(input_ids=source, decoder_input_ids=target, use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), wanted.flatten())


def rounds(steps: dict[str, Callable[[], Any]], tokens: int, seconds: float) -> dict[str, list[float]]:
    """Tokens a second of each step, in turns of a few steps; the first steps, which compile, are left out."""
    for step in steps.values():
        for _ in range(3):
            step()
    rates: dict[str, list[float]] = {name: [] for name in steps}
    until = time.perf_counter() + seconds * len(steps)
    while time.perf_counter() < until or not all(rates.values()):
        for name, step in steps.items():
            for _ in range(5):
                began = time.perf_counter()
                step()
                rates[name].append(tokens / (time.perf_counter() - began))
    return rates


if __name__ == "__main__":
    main()
