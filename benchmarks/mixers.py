"""Tokens per second of the recipes with other mixers, in training and in writing, beside `lstm` and `transformer`.

`python benchmarks/mixers.py [--device cuda] [--width 512 --context 512 --batch 32] [--out FILE] [RECIPE ...]`

Each recipe is built as it is, but for what the options change; its text is random tokens. A training step is forward,
loss, backward and optimizer, in processor seconds on a CPU (others may use it too) and in seconds on a GPU, the best of
a few; there it is compiled and in bfloat16, as training does it. Writing is one row, token by token, by the form of the
model that `chainrule generate` uses.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chainrule.families._stepwise import shape_of
from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.models.stack import Stack
from chainrule.parts.reading import Reading
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import build, find

RECIPES = ("lstm", "transformer", "min-gru", "mamba", "rwkv", "mlp-mixer", "gmlp", "fnet")
VOCABULARY = 2049


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("recipes", nargs="*", default=RECIPES)
    given.add_argument("--device", default="cpu")
    given.add_argument("--out", type=Path, help="a line of JSON for each recipe")
    given.add_argument("--written", type=int, default=256, help="tokens that are written")
    for name in ("width", "context", "batch"):
        given.add_argument(f"--{name}", type=int)
    options = given.parse_args()
    torch.manual_seed(0)
    print(f"{'recipe':<14} {'parameters':>10} {'tokens/s in training':>21} {'tokens/s written':>17} {'GiB':>6}")
    for name in options.recipes:
        row = measured(name, options)
        print(f"{name:<14} {row['parameters']:>10,} {row['training']:>21,.0f} {row['writing']:>17,.0f} "
              f"{row['memory']:>6.2f}", flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"recipe": name, "device": options.device, **row}) + "\n")


def measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One recipe, built for this vocabulary."""
    changes = [f"model.{key}={value}" for key in ("width", "context") if (value := getattr(options, key))]
    recipe = load_recipe(name, changes)
    task: Any = find("tasks", recipe.task["name"])
    stack = Stack(shape_of(recipe, causal=task.causal), VOCABULARY).to(options.device)
    rows, time_ = options.batch or recipe.training.batch, stack.shape.context
    step = training_step(stack, recipe, rows)
    cuda = options.device.startswith("cuda")
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    seconds = best(step, cuda)
    return {"parameters": sum(each.numel() for each in stack.parameters()), "rows": rows, "context": time_,
            "width": stack.width, "training": rows * time_ / seconds, "writing": writing(stack, options.written, cuda),
            "memory": torch.cuda.max_memory_allocated() / 2**30 if cuda else 0.0}


def training_step(stack: Stack, recipe: Any, rows: int) -> Callable[[], None]:
    cuda = stack.device.type == "cuda"
    optimizer: Any = build("training/optimizers", recipe.training.optimizer, list(stack.named_parameters()))
    network = torch.compile(stack) if cuda else stack
    ids = torch.randint(1, VOCABULARY, (rows, stack.shape.context + 1), device=stack.device)
    reading = Reading(stack.shape.causal)

    def step() -> None:
        with torch.autocast(stack.device.type, torch.bfloat16, enabled=cuda):
            hidden, _ = network(ids[:, :-1], None, reading)
            loss = stack.head.loss(hidden, ids[:, 1:]) / ids[:, 1:].numel()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


@torch.inference_mode()
def writing(stack: Stack, count: int, cuda: bool) -> float:
    """Tokens written per second; a model that reads both ways writes none."""
    if not stack.shape.causal:
        return 0.0
    model, greedy = stack.eval().language_model(0).to_write(), build("generation/strategies", "greedy")

    def write() -> None:
        decode(model, np.array([[3, 5, 2]]), greedy, marks=Marks(0, -1), max_tokens=count)

    return count / best(write, cuda, tries=2)


def best(run: Callable[[], None], cuda: bool, tries: int = 5) -> float:
    """Seconds of the fastest of a few, after one to get warm."""
    clock = time.perf_counter if cuda else time.process_time
    run()
    found = []
    for _ in range(tries):
        if cuda:
            torch.cuda.synchronize()
        began = clock()
        run()
        if cuda:
            torch.cuda.synchronize()
        found.append(clock() - began)
    return min(found)


if __name__ == "__main__":
    main()
