"""Shipped recipes trained on a GPU and measured as the literature does: tiny Shakespeare, the Penn Treebank, pydoc.

    python benchmarks/gpu_quality.py shakespeare-char gpu-data/shakespeare.npz --out results.jsonl
    python benchmarks/gpu_quality.py lstm-medium gpu-data/ptb.npz --out results.jsonl

It needs only torch, NumPy, PyYAML and safetensors. The .npz holds `train`, `valid` (and `test`) ids, `size`, `start`
and `end`, and `bytes` where bits per byte are wanted; `python benchmarks/gpu_data.py` writes them.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chainrule.models.shape import USUAL, Shape
from chainrule.models.stack import Stack
from chainrule.recipe.strict_yaml import load_yaml
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import Vocabulary, train_ids
from chainrule.training.plan import Budget, Plan
from chainrule.training.torch_learner import TorchLearner

RECIPES = Path(__file__).parents[1] / "chainrule" / "recipes"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("recipe")
    options.add_argument("data")
    options.add_argument("--out", default="results.jsonl")
    options.add_argument("--set", nargs="*", default=[], help="training.path=value or model.path=value, as YAML")
    given = options.parse_args()
    torch.set_float32_matmul_precision("high")
    shape, plan = read(given.recipe, given.set)
    held = np.load(given.data)
    text, valid = Text(held["train"]), Text(held["valid"], int(held["bytes"]) if "bytes" in held else None)
    vocabulary = Vocabulary(int(held["size"]), int(held["start"]), int(held["end"]))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        stack, fitted = train_ids(shape, plan, text, valid, vocabulary, Path(folder) / "w",
                                  callbacks=Callbacks(say=lambda line: print(given.recipe, line, flush=True)))
    found = {"recipe": given.recipe, "set": given.set, "seconds": round(time.perf_counter() - began, 1),
             "tokens_per_second": round(fitted.tokens_per_second), "steps": fitted.state.step,
             "best": dict(fitted.state.best), "last": dict(fitted.state.last),
             "parameters": sum(p.numel() for p in stack.parameters())}
    for part in ("valid", "test"):
        if part in held:
            found[part] = measured(stack, plan, Text(held[part]), vocabulary)
    with open(given.out, "a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps(found), flush=True)


def read(recipe: str, changes: list[str]) -> tuple[Shape, Plan]:
    """A shipped recipe as plain values, without the schema, which wants pydantic."""
    data = load_yaml((RECIPES / f"{recipe}.yaml").read_text(encoding="utf-8"), recipe)
    for change in changes:
        path, _, value = change.partition("=")
        *folders, key = path.split(".")
        place = data
        for folder in folders:
            place = place.setdefault(folder, {})
        if path == "training.budget":
            place[key] = {}
        place[key] = load_yaml(value, change)
    training = dict(data["training"])
    return shape(data["model"]), Plan(budget=Budget(**training.pop("budget")), **training)


def shape(model: dict[str, Any]) -> Shape:
    """A recipe's `model` section: letters are parts, and one that names none is the usual."""
    letters = {letter: model.pop(letter) for letter in USUAL if letter in model}
    parts = {letter: {"name": USUAL[letter], **choice} if isinstance(choice, dict) else choice
             for letter, choice in letters.items() if choice is not None}
    return Shape(parts=parts | model.pop("parts", {}), **model)


def measured(stack: Stack, plan: Plan, text: Text, vocabulary: Vocabulary) -> dict[str, float]:
    """Loss per token and perplexity of the whole text, with the weights that are kept, in full precision."""
    whole = replace(plan, evaluate_tokens=len(text.ids), precision="float32", compile="off", ema=None)
    task = Language()
    data = task.training_data(TextRead(text, text, vocabulary.start, vocabulary.end), stack, whole, print)
    learner = TorchLearner(stack, task, data, whole, Callbacks())
    loss = learner.evaluate(data.rows, writes=False)[0]["loss"]
    return {"loss": loss, "perplexity": math.exp(loss), "tokens": len(text.ids)}


if __name__ == "__main__":
    main()
