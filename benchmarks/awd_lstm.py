"""AWD-LSTM on the Penn Treebank and WikiText-2, trained for so many seconds on a GPU: validation and test perplexity.

    python benchmarks/awd_lstm.py --data ../shared/data --seconds 240 --out awd.jsonl
    python benchmarks/awd_lstm.py --sets ptb --how paper --seconds 1800 --out awd.jsonl

Each set is a process of its own, side by side. `--how paper` is the recipe `awd-lstm` as it is: gradient descent at a
rate of 30 and NT-ASGD, which wants hundreds of epochs. `--how quick`, for minutes, has the same network and the same
regularization with larger batches, AdamW and one rise and fall of the rate (the settings of fastai's example for
WikiText-2). Every line of a text ends with a token, empty ones too, as in the published figures; perplexity is static:
no cache, no learning from the test set. It needs only torch, NumPy, PyYAML and safetensors.

Published by Merity, Keskar & Socher 2018, with fine-tuning: PTB 57.3, WikiText-2 65.8. Of one training without it the
README of their code says 58.8 and 65.6 (validation 61.2 and 68.7).
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from gpu_quality import read

from chainrule.models.stack import Stack
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import Vocabulary, train_ids
from chainrule.training.plan import Plan
from chainrule.training.torch_learner import TorchLearner

SETS = {"ptb": "ptb/ptb.{}.txt.gz", "wikitext-2": "wikitext-2/{}.txt.gz"}
PAPER = {"ptb": [], "wikitext-2": ["model.dropout.input=0.65", "model.dropout.rate=0.2", "training.batch=80",
                                   "training.evaluate_every=382"]}
QUICK = ["training.batch=104", "training.optimizer={name: adamw, rate: 0.005, beta1: 0.75, beta2: 0.99, "
         "epsilon: 1.0e-7, weight_decay: 0.1}", "training.schedule={name: cosine, warmup: 0.25, final: 0.0}",
         "training.clip=0.1", "training.evaluate_every=null"]
START, END = 0, 1  # ids; words follow, the most frequent first


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options.add_argument("--how", choices=["quick", "paper"], default="quick")
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--seconds", type=float, default=240)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--set", nargs="*", default=[], help="further changes of the recipe: path=value")
    options.add_argument("--out", type=Path, default=Path("awd.jsonl"))
    given = options.parse_args()
    if len(given.sets) == 1:
        run(given.sets[0], given)
        return 0
    same = ["--how", given.how, "--data", str(given.data), "--seconds", str(given.seconds), "--seed", str(given.seed),
            "--out", str(given.out), "--set", *given.set]
    started = [subprocess.Popen([sys.executable, __file__, "--sets", name, *same]) for name in given.sets]
    return max(each.wait() for each in started)


def run(name: str, given: argparse.Namespace) -> None:
    """One training, and its figures as a line of JSON."""
    torch.set_float32_matmul_precision("high")
    texts, vocabulary = encoded(given.data / SETS[name])
    changes = [*PAPER[name], *(QUICK if given.how == "quick" else ()), f"training.seed={given.seed}",
               f"training.budget={{seconds: {given.seconds}}}", "training.keep=0", *given.set]
    shape, plan = read("awd-lstm", changes)
    began = time.perf_counter()
    callbacks = Callbacks(say=lambda line: print(name, line, flush=True))
    with tempfile.TemporaryDirectory() as folder:
        stack, fitted = train_ids(shape, plan, Text(texts["train"]), Text(texts["valid"]), vocabulary,
                                  Path(folder) / "w", callbacks=callbacks)
    found = {"set": name, "how": given.how, "seconds": round(time.perf_counter() - began, 1), "seed": given.seed,
             "changes": changes, "parameters": sum(each.numel() for each in stack.parameters()),
             "steps": fitted.state.step, "epochs": round(fitted.state.tokens / len(texts["train"]), 1),
             "tokens_per_second": round(fitted.tokens_per_second), "best": dict(fitted.state.best),
             "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
             "valid": measured(stack, plan, texts["valid"], vocabulary, 10),
             "test": measured(stack, plan, texts["test"], vocabulary, 1)}
    with given.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps(found), flush=True)


def encoded(files: Path) -> tuple[dict[str, np.ndarray], Vocabulary]:
    """The three texts as ids: words between spaces, and an end after every line."""
    words = {}
    for part in ("train", "valid", "test"):
        with gzip.open(str(files).format(part), "rt", encoding="utf-8") as file:
            words[part] = [word for line in file for word in (*line.split(), None)]
    ranks = Counter(word for word in words["train"] if word is not None).most_common()
    ids = {None: END} | {word: END + 1 + n for n, (word, _) in enumerate(ranks)}
    found = {part: np.array([ids[word] for word in each], np.int32) for part, each in words.items()}
    return found, Vocabulary(len(ids) + 1, START, END)


def measured(stack: Stack, plan: Plan, ids: np.ndarray, vocabulary: Vocabulary, rows: int) -> dict[str, float]:
    """Loss per token and perplexity of a whole text in so many columns, each read from its beginning to its end."""
    whole = replace(plan, evaluate_tokens=len(ids), batch=rows, optimizer="sgd", reading="contiguous", compile="off")
    task, text = Language(), Text(ids)
    data = task.training_data(TextRead(text, text, vocabulary.start, vocabulary.end), stack, whole, print)
    loss = TorchLearner(stack, task, data, whole, Callbacks()).evaluate(rows, writes=False)[0]["loss"]
    return {"loss": loss, "perplexity": math.exp(loss), "tokens": len(ids)}


if __name__ == "__main__":
    sys.exit(main())
