"""Narang et al.'s table of modifications of the Transformer (arXiv:2102.11972) again, small and on one GPU.

    python benchmarks/gpu_data.py byte_pair:16384 runs/gpu/novels.npz novels95/train.txt.xz novels95/valid.txt.xz
    python benchmarks/modifications.py --data runs/gpu/novels.npz --out OUT --seconds 520 --side-by-side 8 --steps 600
    python benchmarks/modifications.py --out OUT --report
    python benchmarks/modifications.py --list          rows, and which of them this package can build
    python benchmarks/modifications.py --tiny --out /tmp/tiny     every row with a few weights, on a CPU

Two bases of 23 and 20 M parameters: an encoder–decoder of 4 + 4 layers that writes what was cut out of a text, and a
language model of 8 layers; 384 wide, pre-norm LayerNorm, ReLU, relative position buckets, one table of tokens. Each
row of `modifications_rows.py` changes one thing; everything else, also the rate of learning (AdamW), stays the same, as
in the paper. OUT/results.jsonl gets a line for each training: parameters, FLOPs of a step, steps a second (beside the
other trainings), validation loss after 1/8 of the steps and at the end. The same command goes on where time was up;
--done names results of earlier calls.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from modifications_rows import ROWS, Row
from side_by_side import Training, results, run, shape, tiny

TASKS = ("span_corruption", "language")
TITLES = {"span_corruption": "encoder–decoder, span corruption", "language": "decoder, language model"}
KEPT = Path(__file__).with_name("modifications.json")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("runs/gpu/novels.npz"))
    options.add_argument("--out", type=Path, default=Path("runs/modifications"))
    options.add_argument("--done", type=Path, help="results.jsonl of an earlier call, which is not trained again")
    options.add_argument("--seconds", type=float, default=520)
    options.add_argument("--side-by-side", type=int, default=8)
    options.add_argument("--steps", type=int, default=600)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--rate", type=float, default=1e-3)
    options.add_argument("--seeds", type=int, default=3, help="of rows that are close to the vanilla one")
    options.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    options.add_argument("--only", nargs="+", help="names of rows")
    for name in ("list", "tiny", "report"):
        options.add_argument(f"--{name}", action="store_true")
    given = options.parse_args()
    if given.list:
        return show_rows()
    if given.report:
        return report(results(given.out / "results.jsonl"))
    file = given.out / "results.jsonl"
    if given.done is not None and not file.exists():
        given.out.mkdir(parents=True, exist_ok=True)
        file.write_text(given.done.read_text())
    wanted = trainings(given)
    if not given.tiny:
        run(wanted, given.data, file, workers=given.side_by_side, seconds=given.seconds)
        return None
    with tempfile.TemporaryDirectory() as folder:
        data = made_up(Path(folder) / "tiny.npz")
        run([tiny(each) for each in wanted], data, file, workers=given.side_by_side, seconds=given.seconds)
    return None


def trainings(given: argparse.Namespace) -> list[Training]:
    """First every row of the first task, then of the second, then more seeds of those that are close."""
    rows = [row for row in ROWS if not given.only or row.name in given.only]
    found = []
    for seed in range(1 if given.tiny else given.seeds):
        for task in given.task:
            for row in rows:
                model = row.model(task)
                changes = row.name == "vanilla" or model != ROWS[0].model(task)
                if model is not None and changes and (seed == 0 or row.close):
                    found.append(Training(row.name, task, model, given.steps, given.batch, seed,
                                          {"name": "adamw", "rate": given.rate}))
    return found


def problem(row: Row, task: str) -> str | None:
    """Why a row cannot be built here, if it cannot: a part that this package does not have."""
    from chainrule.errors import ChainruleError
    from chainrule.models.cost.counting import on_meta
    from chainrule.recipe.registry import build

    model, own = row.model(task), build("tasks", task)
    if model is None:
        return "not for this task"
    if row.name != "vanilla" and model == ROWS[0].model(task):
        return "changes nothing yet"
    try:
        on_meta(shape(model, causal=own.causal), own.sizes(16384))
    except ChainruleError as error:
        return str(error)
    return None


def show_rows() -> None:
    from chainrule.models.cost.counting import on_meta
    from chainrule.recipe.registry import build

    for task in TASKS:
        own = build("tasks", task)
        for row in ROWS:
            wrong, model = problem(row, task), row.model(task)
            if wrong is None and model is not None:
                size = sum(p.numel() for p in on_meta(shape(model, causal=own.causal), own.sizes(16384)).parameters())
                print(f"{task:16} {row.name:44} {size / 1e6:7.1f} M")
            else:
                print(f"{task:16} {row.name:44} {wrong}")


def made_up(path: Path) -> Path:
    """Random tokens, a few of them."""
    ids = np.random.default_rng(0).integers(2, 60, 2000).astype(np.uint16)
    np.savez(path, train=ids, valid=ids[:400], size=60, start=0, end=1, bytes=400)
    return path


def report(found: list[dict[str, Any]]) -> None:
    """Tables beside the published ones and their rank correlation; kept for docs/catalogue.md."""
    tables, text = [], []
    for task in TASKS:
        own = [each for each in found if each["task"] == task and "failed" not in each]
        if not own:
            continue
        steps = max(each["asked"] for each in own)
        table, pairs = rows_of(task, [each for each in own if each["asked"] == steps])
        tables.append(table)
        if len(pairs) > 2:
            rank = spearman(*zip(*pairs, strict=True))
            text.append(f"{TITLES[task]}: {len(pairs)} rows, {steps:,} steps of {tokens(own, steps):,} tokens each; "
                        f"Spearman's correlation of our and the published final losses {rank:.2f}.")
    done = {(each["name"], each["task"], each["seed"]) for each in found if "failed" not in each}
    for each in found:
        if "failed" in each and (each["name"], each["task"], each["seed"]) not in done:
            text.append(f"{each['name']} ({TITLES[each['task']]}, seed {each['seed']}) failed: {each['failed']}")
    KEPT.write_text(json.dumps({"text": ["  \n".join(text)], "tables": tables}, indent=1, ensure_ascii=False) + "\n",
                    encoding="utf-8")
    for table in tables:
        print(f"\n**{table['title']}**\n")
        for line in (table["columns"], ["---"] * len(table["columns"]), *table["rows"]):
            print("| " + " | ".join(map(str, line)) + " |")
    print("\n" + "\n".join(text))


def rows_of(task: str, own: list[dict[str, Any]]) -> tuple[dict[str, Any], list[tuple[float, float]]]:
    """A table in the order of our final losses, and pairs of ours with the published ones."""
    columns = ["modification", "parameters", "FLOPs of a step", "steps/s side by side", "early loss", "final loss",
               "published early", "published final"]
    lines, pairs = [], []
    for row in ROWS:
        mine = [each for each in own if each["name"] == row.name]
        if mine:
            final, early = ([each[key] for each in mine] for key in ("final", "early"))
            pairs.append((statistics.mean(final), row.final))
            lines.append((statistics.mean(final), [
                row.name, f"{mine[0]['parameters'] / 1e6:.1f}M", f"{mine[0]['flops_per_step'] / 1e12:.2f}T",
                f"{statistics.median(each['steps_per_second'] for each in mine):.1f}", spread(early), spread(final),
                f"{row.early:.3f}", f"{row.final:.3f}"]))
    return {"title": TITLES[task], "columns": columns, "rows": [line for _, line in sorted(lines)]}, pairs


def tokens(own: list[dict[str, Any]], steps: int) -> int:
    each = next(each for each in own if each["asked"] == steps)
    return round(each["tokens"] / each["steps"])


def spread(values: list[float]) -> str:
    return f"{values[0]:.3f}" if len(values) == 1 else f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def spearman(ours: tuple[float, ...], theirs: tuple[float, ...]) -> float:
    """The correlation of ranks; equal values share the mean of theirs."""
    return float(np.corrcoef(ranks(ours), ranks(theirs))[0, 1])


def ranks(values: tuple[float, ...]) -> np.ndarray:
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return (ends - (count - 1) / 2)[group]


if __name__ == "__main__":
    main()
