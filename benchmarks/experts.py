"""Step time of a Transformer with Switch feedforwards beside the dense one, at equal active parameters.

    python benchmarks/experts.py --out results.jsonl --seconds 20

The trainer's own steps on random tokens: bfloat16, torch.compile, fused AdamW. In the Switch models every second
feedforward (with `--every` each of them) is `switch`, whose experts are as wide as the dense feedforward, so each token
passes as many parameters as in the dense model, and the router's. The ratio of the step times is printed; the goal is
at most 1.10. Steps of all models take turns, so that a slower clock slows all of them. Needs torch and NumPy only;
`--tiny` runs the same lines on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import parameters, record, trainer

from chainrule.models.cost.counting import counted
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState
from chainrule.training.torch_learner import TorchLearner

VOCABULARY = 32_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    options.add_argument("--seconds", type=float, default=20, help="of measuring each model, once it is compiled")
    options.add_argument("--width", type=int, default=768)
    options.add_argument("--layers", type=int, default=12)
    options.add_argument("--context", type=int, default=512)
    options.add_argument("--batch", type=int, default=64)
    options.add_argument("--experts", type=int, default=8)
    options.add_argument("--capacities", type=float, nargs="+", default=[1.0, 1.25])
    options.add_argument("--every", action="store_true", help="each feedforward is a Switch, not every second")
    options.add_argument("--tiny", action="store_true", help="models of a few thousand parameters, on the CPU")
    given = options.parse_args()
    if given.tiny:
        given.width, given.layers, given.context, given.batch = 32, 2, 16, 4
    torch.set_float32_matmul_precision("high")
    models = {"dense": prepared(dense(given), given)}
    for capacity in given.capacities:
        models[f"switch, capacity {capacity:g}"] = prepared(switch(given, capacity), given)
    times = measured({name: learner for name, (learner, _) in models.items()}, given.seconds)
    base = statistics.median(times["dense"])
    for name, (learner, flops) in models.items():
        step = statistics.median(times[name])
        record(given.out, benchmark="experts", model=name, device=device_name(), width=given.width,
               layers=given.layers, context=given.context, batch=given.batch, experts=given.experts,
               parameters=parameters(learner.network), training_mflop_per_token=round(flops / 1e6, 2),
               steps=len(times[name]), milliseconds=round(1e3 * step, 2),
               spread=[round(1e3 * each, 2) for each in (min(times[name]), max(times[name]))],
               ratio_to_dense=round(step / base, 3))


def dense(given: argparse.Namespace) -> Shape:
    return Shape(pattern=f"(sfse)*{given.layers // 2}", width=given.width, context=given.context, parts={
        "s": {"name": "attention", "heads": max(1, given.width // 64)}, "f": "mlp", "e": "mlp"})


def switch(given: argparse.Namespace, capacity: float) -> Shape:
    """The same with experts in the place of every second feedforward, or of each."""
    part = {"name": "switch", "experts": given.experts, "capacity": capacity, "expert": "mlp"}
    plain = dense(given)
    return Shape(pattern=plain.pattern, width=given.width, context=given.context,
                 parts={**plain.parts, "e": part, "f": part if given.every else "mlp"})


def prepared(shape: Shape, given: argparse.Namespace) -> tuple[TorchLearner, float]:
    """The trainer's own step, and how many FLOPs it takes for a token."""
    vocabulary = 101 if given.tiny else VOCABULARY
    torch.manual_seed(0)
    stack = Stack(shape, vocabulary).to("cpu" if given.tiny else "cuda").train()
    plan = Plan(Budget(steps=1), batch=given.batch, precision="bfloat16", keep=0,
                compile="off" if given.tiny else "on")
    ids = np.random.default_rng(0).integers(0, vocabulary, given.batch * given.context * 4 + 1).astype(np.int32)
    return trainer(stack, plan, ids), sum(part.training for part in counted(shape, vocabulary))


def measured(learners: dict[str, TorchLearner], seconds: float) -> dict[str, list[float]]:
    """Seconds of each step; a step ends with its loss on the host. The first three compile and warm up."""
    states: dict[str, Any] = {name: TrainingState(accumulation=1) for name in learners}
    found: dict[str, list[float]] = {name: [] for name in learners}
    for name, learner in learners.items():
        for _ in range(3):
            learner.step(states[name], 0.5)
    while min(map(sum, found.values())) < seconds and len(found["dense"]) < 500 or len(found["dense"]) < 3:
        for name, learner in learners.items():
            wait()
            before = time.perf_counter()
            learner.step(states[name], 0.5)
            wait()
            found[name].append(time.perf_counter() - before)
    return found


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


if __name__ == "__main__":
    main()
