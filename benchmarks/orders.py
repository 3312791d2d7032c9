"""Does the order of attention and feed-forward matter? Random orders beside the interleaved and the sandwich.

    python benchmarks/orders.py --data runs/gpu/novels.npz --out OUT --seconds 110 --side-by-side 8
    python benchmarks/orders.py --tiny --out /tmp/orders

Press, Smith & Levy 2020, arXiv:1911.03864, §3.1 and figure 3: 20 random orders of 16 s and 16 f, all with the same
parameters, beside `(sf)*16`. Here 8 and 8 in a language model that is 256 wide.
OUT/results.jsonl gets a line for each training; a table with mean and spread follows, and OUT/orders.svg.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from modifications import made_up
from modifications_rows import SHARED
from side_by_side import Training, merged, run, tiny

from chainrule.models.orders import random_orders

LETTERS = 8  # of each
MODEL = merged(SHARED, {"width": 256, "s": {"heads": 4}})
KNOWN = {"interleaved": f"(sf)*{LETTERS}", "reversed": f"(fs)*{LETTERS}",
         **{f"sandwich {k}": f"s*{k}(sf)*{LETTERS - k}f*{k}" for k in (2, 4, 6)},
         "all s first": f"s*{LETTERS}f*{LETTERS}", "all f first": f"f*{LETTERS}s*{LETTERS}"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("runs/gpu/novels.npz"))
    options.add_argument("--out", type=Path, default=Path("runs/orders"))
    options.add_argument("--seconds", type=float, default=110)
    options.add_argument("--side-by-side", type=int, default=8)
    options.add_argument("--steps", type=int, default=400)
    options.add_argument("--count", type=int, default=20, help="of random orders")
    options.add_argument("--seeds", type=int, default=3, help="of the interleaved one")
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    wanted = trainings(given.count, given.steps, given.seeds)
    data = given.data
    if given.tiny:
        given.out.mkdir(parents=True, exist_ok=True)
        data, wanted = made_up(given.out / "tiny.npz"), [tiny(each) for each in wanted]
    show(run(wanted, data, given.out / "results.jsonl", workers=given.side_by_side, seconds=given.seconds), given.out)


def trainings(count: int, steps: int, seeds: int) -> list[Training]:
    """The interleaved one, random ones, the other known ones, then more seeds of the interleaved one."""
    drawn = random_orders(f"s*{LETTERS}f*{LETTERS}", count)
    named = {"interleaved": KNOWN["interleaved"], "sandwich 4": KNOWN["sandwich 4"],
             **{f"random {pattern}": pattern for pattern in drawn}, **KNOWN}
    first = [Training(name, "language", MODEL | {"pattern": pattern}, steps) for name, pattern in named.items()]
    again = [Training("interleaved", "language", MODEL | {"pattern": KNOWN["interleaved"]}, steps, seed=seed)
             for seed in range(1, seeds)]
    return first + again


def show(found: list[dict[str, Any]], out: Path) -> None:
    """The table, and every order in a picture."""
    from chainrule.figures.drawing import SERIES
    from chainrule.figures.intervals import Measured, intervals

    by_name: dict[str, list[float]] = {}
    for each in found:
        if "failed" not in each:
            by_name.setdefault(each["name"], []).append(each["final"])
    means = {name: statistics.mean(values) for name, values in by_name.items()}
    drawn = [value for name, value in means.items() if name.startswith("random ")]
    usual = means.get("interleaved")
    print("| order | validation loss | seeds |\n|---|---|---|")
    for name, value in sorted(means.items(), key=lambda each: each[1]):
        print(f"| {name} | {value:.4f} | {len(by_name[name])} |")
    if len(drawn) > 1 and usual is not None:
        spread = statistics.stdev(by_name["interleaved"]) if len(by_name["interleaved"]) > 1 else float("nan")
        print(f"\n{len(drawn)} random orders: mean {statistics.mean(drawn):.4f}, standard deviation "
              f"{statistics.stdev(drawn):.4f}, best {min(drawn):.4f}, worst {max(drawn):.4f}; "
              f"{sum(value < usual for value in drawn)} are better than the interleaved order ({usual:.4f}, standard "
              f"deviation over seeds {spread:.4f}).")
    rows = [Measured(name, value, None, None, SERIES[0 if name.startswith("random ") else 1])
            for name, value in sorted(means.items(), key=lambda each: each[1])]
    if rows:
        (out / "orders.svg").write_text(intervals("Orders of attention and feed-forward", "validation loss, nats per "
                                                  "token", rows).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
