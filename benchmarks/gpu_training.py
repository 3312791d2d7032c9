"""Training GPT-2 124M on a GPU: tokens a second, share of the peak arithmetic, and memory of the trainer's own steps.

    python benchmarks/gpu_training.py --out results.jsonl --seconds 60

Random tokens, context 1024, micro-batch 64 × 8, bfloat16, torch.compile, fused AdamW, loss in chunks. The reference on
one H200, tokens/s: nanoGPT 521.9k, transformers compiled 447.6k, x-transformers compiled 488.0k. Needs torch, NumPy
and safetensors only; `--tiny` runs the same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from peers import GPT2, Size, ours, parameters, record, trainer

from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState
from chainrule.training.torch_learner import TorchLearner

PEAK = 989e12  # FLOP/s of an H100 or H200 in bfloat16, without sparsity
REFERENCE = 521_900  # tokens/s: nanoGPT with the same batch on one H200
TINY = Size(2, 32, 2, 16, 4, 101)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    options.add_argument("--seconds", type=float, default=30, help="of measuring, after the compiler is done")
    options.add_argument("--micro", type=int, default=64, help="rows at a time")
    options.add_argument("--accumulation", type=int, default=8)
    options.add_argument("--compile", choices=["on", "off"], default="on")
    options.add_argument("--tiny", action="store_true", help="a model of a few thousand parameters, on the CPU")
    given = options.parse_args()
    size = TINY if given.tiny else replace(GPT2, batch=given.micro)
    torch.set_float32_matmul_precision("high")
    began = time.perf_counter()
    learner, state = prepared(size, given)
    learner.step(state, 0.5)
    compiling = time.perf_counter() - began
    rates, peak = measured(learner, state, size.batch * given.accumulation * size.context, given.seconds)
    rate = statistics.median(rates)
    flops = flops_per_token(size, parameters(learner.network) - size.context * size.width)
    record(given.out, benchmark="gpu_training", device=device_name(), size=size, accumulation=given.accumulation,
           compile=given.compile, parameters=parameters(learner.network), steps=len(rates),
           tokens_per_second=round(rate), spread=[round(min(rates)), round(max(rates))],
           mfu=round(rate * flops / PEAK, 4), peak_gib=round(peak / 2**30, 1), first_step_seconds=round(compiling, 1),
           ratio_to_nanogpt=round(rate / REFERENCE, 3))


def prepared(size: Size, given: argparse.Namespace) -> tuple[TorchLearner, TrainingState]:
    """The trainer's own step, with as many rows as the micro-batches have together."""
    device = torch.device("cpu" if given.tiny else "cuda")
    torch.manual_seed(0)
    stack = ours(size).to(device).train()
    rows = size.batch * given.accumulation
    plan = Plan(Budget(steps=1), batch=rows, accumulation=given.accumulation, precision="bfloat16", keep=0,
                compile="off" if given.tiny else given.compile)
    ids = np.random.default_rng(0).integers(0, size.vocabulary_size, rows * size.context * 4 + 1).astype(np.int32)
    return trainer(stack, plan, ids), TrainingState(accumulation=given.accumulation)


def measured(learner: TorchLearner, state: TrainingState, tokens: int, seconds: float) -> tuple[list[float], int]:
    """Tokens a second of each step (a step ends with its loss on the host), and the most memory in bytes."""
    rates, began = [], time.perf_counter()
    learner.step(state, 0.5)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    while time.perf_counter() - began < seconds or len(rates) < 3:
        before = time.perf_counter()
        learner.step(state, 0.5)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        rates.append(tokens / (time.perf_counter() - before))
    return rates, torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0


def flops_per_token(size: Size, count: int) -> float:
    """6 N + 12 L H Q T; N counts no positions, and the tied embedding once (nanoGPT's convention)."""
    return 6 * count + 12 * size.layers * size.width * size.context


def device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


if __name__ == "__main__":
    main()
