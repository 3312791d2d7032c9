"""A thousand layers: which wirings still train? Losses and gradient norms by layer, drawn.

    python benchmarks/depth.py --data runs/gpu/novels.npz --out OUT --seconds 170            a GPU
    python benchmarks/depth.py --tiny --out /tmp/depth                                        a CPU, to see that it runs

Language models `(sf)*500`, which are 1,000 sublayers, 64 wide, with `deep_norm`, `post_norm` and `pre_norm` (Wang et
al. 2022, arXiv:2203.00555, figure 1: DeepNorm trains 1,000 layers where post-norm diverges). All have the same data,
rate and warm-up, and are trained side by side. OUT/depth.json has every number; OUT/depth-loss.svg and
OUT/depth-gradient.svg show the losses and the norm of each sublayer's gradient at the first step and at the last.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from modifications import made_up
from side_by_side import Training, measured, overlapping_kernels, prepared

WIRINGS = ("deep_norm", "post_norm", "pre_norm")
WARMUP = 50  # steps


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("runs/gpu/novels.npz"))
    options.add_argument("--out", type=Path, default=Path("runs/depth"))
    options.add_argument("--blocks", type=int, default=500, help="of two sublayers")
    options.add_argument("--steps", type=int, default=10_000, help="at most; they end when time is up")
    options.add_argument("--seconds", type=float, default=170)
    options.add_argument("--rate", type=float, default=5e-4)
    options.add_argument("--wirings", nargs="+", default=WIRINGS)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.tiny:
        given.blocks, given.steps, given.data = 6, 4, made_up(given.out / "tiny.npz")
    until, spawn = time.time() + given.seconds, multiprocessing.get_context("spawn")
    with overlapping_kernels(), spawn.Pool(len(given.wirings)) as pool:
        jobs = [(wiring, given.blocks, given.steps, given.rate, str(given.data), given.tiny, until)
                for wiring in given.wirings]
        found = dict(zip(given.wirings, pool.starmap(trained, jobs), strict=True))
    (given.out / "depth.json").write_text(json.dumps({"blocks": given.blocks, "rate": given.rate, **found}, indent=1))
    draw(found, given.out)
    print("| wiring | steps | first loss | last training loss | validation loss | largest gradient norm | steps/s |")
    print("|---|---|---|---|---|---|---|")
    for wiring, each in found.items():
        print(f"| `{wiring}` | {each['steps']:,} | {each['losses'][0]:.3f} | {np.mean(each['losses'][-20:]):.3f} | "
              f"{each['valid']:.3f} | {max(each['norms']):.3g} | {each['steps'] / each['seconds']:.2f} |")


def trained(wiring: str, blocks: int, steps: int, rate: float, data: str, tiny: bool, until: float) -> dict[str, Any]:
    """One model, until its steps or the time are over; a constant rate after the warm-up, so any end is comparable."""
    import torch

    from chainrule.errors import ChainruleError
    from chainrule.training.state import TrainingState

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    model = {"pattern": f"(sf)*{blocks}", "width": 16 if tiny else 64, "context": 16 if tiny else 128,
             "s": {"name": "attention", "heads": 2}, "f": {"name": "mlp", "activation": "relu"}, "norm": "layer",
             "position": "learned", "wiring": wiring}
    training = Training(wiring, "language", model, steps, 2 if tiny else 64,
                        precision="float32" if tiny else "bfloat16",
                        optimizer={"name": "adam", "rate": rate}, schedule={"name": "constant"},
                        evaluate_tokens=64 if tiny else 1 << 15)
    learner, check = prepared(training, dict(np.load(data)))
    state, losses, norms, began = TrainingState(accumulation=1), [], [], time.perf_counter()
    first = by_layer(learner)
    ended = None
    while state.step < steps and time.time() < until:
        warm = min(1.0, (state.step + 1) / WARMUP)  # Adam's first steps are the largest; without this, all diverge
        for group in learner.optimizer.param_groups:
            group["base"] = rate * warm
        try:
            outcome = learner.step(state, 0.5)
        except ChainruleError as error:  # the loss was not finite several times in a row
            ended = str(error)
            break
        losses.append(outcome.loss)
        norms.append(outcome.norm)
    seconds = time.perf_counter() - began
    finite = ended is None and all(map(math.isfinite, losses))
    return {"losses": losses, "norms": norms, "first": first, "last": by_layer(learner), "steps": state.step,
            "seconds": seconds, "valid": measured(learner, check)["loss"] if finite else math.nan, "ended": ended,
            "parameters": learner.size}


def by_layer(learner: Any) -> list[float]:
    """The norm of the gradient of each sublayer's parameters, on the first batch."""
    import torch

    learner.gradients(learner.data.batch(0), None, 1)
    found = []
    for layer in learner.network.sublayers:
        grads = [each.grad.float().flatten() for each in layer.parameters() if each.grad is not None]
        found.append(float(torch.cat(grads).norm()) if grads else 0.0)
    learner.zero_grad()
    return found


def draw(found: dict[str, dict[str, Any]], out: Path) -> None:
    from chainrule.figures.lines import Chart, Line, chart

    def smooth(values: list[float]) -> tuple[list[int], list[float]]:
        each = max(1, len(values) // 100)
        starts = list(range(0, len(values), each))
        return starts, [float(np.mean(values[n:n + each])) for n in starts]

    depth = len(next(iter(found.values()))["first"])
    losses = Chart(f"Training loss of {depth:,} sublayers", "step", "nats per token",
                   [Line(wiring, *smooth(each["losses"])) for wiring, each in found.items()])
    grads = Chart("Gradient by sublayer", "sublayer", "‖∂loss / ∂θ‖", [
        Line(f"{wiring}, {when} step", range(len(each[key])), each[key]) for wiring, each in found.items()
        for key, when in (("first", "first"), ("last", "last"))], log=True)
    for name, each in (("loss", losses), ("gradient", grads)):
        (out / f"depth-{name}.svg").write_text(chart(each).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
