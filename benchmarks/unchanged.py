"""The same trainings by two checkouts of this package: are the weights the same bytes, and is it as fast?

    git worktree add ../before COMMIT
    python benchmarks/unchanged.py ../before . --out results.jsonl

Each recipe is trained by the one, then by the other, round after round, in processes of their own, with the same seed
and the same steps, on `pydoc`; then the run is evaluated. Printed are whether model.safetensors has the same bytes,
bits per byte, and the ratio of processor times (the second's to the first's; below 1: less), best of the rounds:
processor time on one thread, because the machine may be shared. A refactor should print `same` everywhere, and ratios
near 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measured import measured

STEPS = ["training.budget.steps=60", "split.valid=0.1"]
RECIPES: dict[str, list[str]] = {
    "ngram": ["split.valid=0.1"], "ngram-bpe": ["split.valid=0.1"], "nnlm": STEPS, "rnn": STEPS, "ugrnn": STEPS,
    "gru": STEPS, "lstm": STEPS, "gated-conv": STEPS, "transformer": STEPS, "gpt": STEPS, "engine-nnlm": STEPS,
    "engine-rnn": STEPS, "engine-lstm": STEPS, "engine-transformer": STEPS,
    "skipgram": ["training.threads=1", "training.epochs=1"], "cbow": ["training.threads=1", "training.epochs=1"],
    "glove": ["training.threads=1", "training.epochs=1"]}


@dataclass(frozen=True)
class Outcome:
    """What one checkout made of a recipe."""

    digest: str
    bits: float | None
    train: float  # seconds of the processor
    evaluate: float | None


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("before", type=Path, help="a checkout of the package")
    options.add_argument("after", type=Path, help="another one")
    options.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--set", nargs="*", default=[], help="more path=value for every recipe")
    options.add_argument("--data", default="pydoc")
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    given = options.parse_args()
    print("| recipe | weights | bits per byte, before / after | processor time, after / before: training, evaluating |")
    print("|---|---|---|---|")
    for recipe in given.recipes:
        rounds = [[outcome(root, recipe, given) for root in (given.before, given.after)] for _ in range(given.rounds)]
        show(recipe, [pair[0] for pair in rounds], [pair[1] for pair in rounds], given.out)


def outcome(root: Path, recipe: str, given: argparse.Namespace) -> Outcome:
    """Trains and evaluates in a folder of its own."""
    chainrule = [sys.executable, "-m", "chainrule"]
    environment = {"PYTHONPATH": str(root.resolve()), "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1",
                   "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        trained = measured([*chainrule, "train", recipe, "--data", given.data, "--out", str(run), *RECIPES[recipe],
                            *given.set], env=environment)
        digest = hashlib.sha256((run / "model.safetensors").read_bytes()).hexdigest()
        valid = json.loads((run / "report.json").read_text()).get("valid") or {}
        evaluated = None
        if "bits_per_byte" in valid:
            evaluated = measured([*chainrule, "evaluate", str(run), "--data", given.data, "--bootstrap", "0"],
                                 env=environment).cpu
    return Outcome(digest, valid.get("bits_per_byte"), trained.cpu, evaluated)


def show(recipe: str, before: list[Outcome], after: list[Outcome], out: Path | None) -> None:
    digests = {each.digest for each in (*before, *after)}
    found = {"benchmark": "unchanged", "recipe": recipe, "same": len(digests) == 1,
             "bits_before": before[0].bits, "bits_after": after[0].bits,
             "train_ratio": round(min(each.train for each in after) / min(each.train for each in before), 3)}
    measured_by = [[each.evaluate for each in side if each.evaluate is not None] for side in (before, after)]
    found["evaluate_ratio"] = round(min(measured_by[1]) / min(measured_by[0]), 3) if all(measured_by) else None
    bits = "" if before[0].bits is None else f"{before[0].bits:.6f} / {after[0].bits:.6f}"
    ratios = f"{found['train_ratio']:.2f}" + (f", {found['evaluate_ratio']:.2f}" if found["evaluate_ratio"] else "")
    print(f"| `{recipe}` | {'same' if found['same'] else 'DIFFERENT'} | {bits} | {ratios} |", flush=True)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
