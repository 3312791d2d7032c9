"""Training beside `transformers` and `torch.nn.LSTM`: tokens a second of whole steps, ours and theirs in one run.

    python benchmarks/training.py --rounds 5

Ours is the step of `chainrule train` (batch, loss in chunks, clipping, guards, AdamW); theirs a plain loop with the
same shape and optimizer, as one would write it. Times are the best of several rounds in turns; a ratio above 1 says
that we are faster. `ratio_cpu` is that of processor time, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from peers import CHARACTERS, SMALL, Size, best_seconds, ours, parameters, ratios, record, trainer, transformers_gpt2
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState

LSTM_SMALL = Size(2, 128, 1, 64, 12)
LSTM_RECIPE = Size(2, 256, 1, 64, 16, 2048)
SIZES = {"small": SMALL, "characters": CHARACTERS, "lstm-small": LSTM_SMALL, "lstm-recipe": LSTM_RECIPE}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--steps", type=int, default=10, help="a round")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    for name in given.sizes:
        compare(name, SIZES[name], given)


def compare(name: str, size: Size, given: argparse.Namespace) -> None:
    recurrent = name.startswith("lstm")
    stack = our_lstm(size) if recurrent else ours(size)
    peer = PlainLSTM(size) if recurrent else transformers_gpt2(size)
    their_name = "torch.nn.LSTM" if recurrent else "transformers"
    theirs = lstm_loop(peer, size, given.steps) if recurrent else gpt2_loop(peer, size, given.steps)
    best = best_seconds({"chainrule": our_steps(stack, size, given.steps), their_name: theirs}, given.rounds)
    tokens = size.batch * size.context * given.steps
    record(given.out, benchmark="training", name=name, size=size, threads=given.threads,
           parameters={"chainrule": parameters(stack), their_name: parameters(peer)},
           tokens_per_second={who: round(tokens / taken.wall) for who, taken in best.items()},
           **ratios(best["chainrule"], best[their_name]))


def our_lstm(size: Size) -> Stack:
    return Stack(Shape(pattern=f"r*{size.layers}", width=size.width, context=size.context, parts={"r": "lstm"},
                       norm="none", wiring="plain", position="none"), size.vocabulary_size)


class PlainLSTM(nn.Module):
    """Embedding, torch's LSTM, and the embedding again as the output matrix."""

    def __init__(self, size: Size):
        super().__init__()
        self.embedding = nn.Embedding(size.vocabulary_size, size.width)
        self.lstm = nn.LSTM(size.width, size.width, size.layers, batch_first=True)

    def forward(self, ids: Tensor, state: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        y, state = self.lstm(self.embedding(ids), state)
        return F.linear(y, self.embedding.weight), state


def our_steps(stack: Stack, size: Size, steps: int) -> Callable[[], object]:
    """Steps of the trainer itself."""
    plan = Plan(Budget(steps=1), batch=size.batch, compile="off", keep=0)
    learner, state = trainer(stack, plan, text(size)), TrainingState(accumulation=1)

    def work() -> None:
        for _ in range(steps):
            learner.step(state, 0.5)
    return work


def gpt2_loop(model: nn.Module, size: Size, steps: int) -> Callable[[], object]:
    ids, draw = torch.from_numpy(text(size)), np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-3)

    def work() -> None:
        for _ in range(steps):
            starts = draw.integers(0, len(ids) - size.context, size.batch)
            batch = torch.stack([ids[start:start + size.context] for start in starts])
            loss = model(batch, labels=batch, use_cache=False).loss
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            loss.item()
    return work


def lstm_loop(model: nn.Module, size: Size, steps: int) -> Callable[[], object]:
    """Columns of the text, with the state carried on."""
    columns, state = torch.from_numpy(text(size)).view(size.batch, -1), None
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=1e-3)
    at = 0

    def work() -> None:
        nonlocal state, at
        for _ in range(steps):
            at = (at + size.context) % (columns.shape[1] - size.context - 1)
            logits, (h, c) = model(columns[:, at:at + size.context], state)
            state = h.detach(), c.detach()
            loss = F.cross_entropy(logits.flatten(0, 1), columns[:, at + 1:at + 1 + size.context].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            loss.item()
    return work


def text(size: Size) -> np.ndarray:
    """Random tokens: how fast a step is does not depend on them."""
    return np.random.default_rng(0).integers(0, size.vocabulary_size, size.batch * size.context * 50)


if __name__ == "__main__":
    main()
