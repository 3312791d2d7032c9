"""Cost against length: seconds and memory of every attention and mixer from 256 to 65,536 tokens.

    python benchmarks/attention_length.py --out OUT --seconds 150                      on the GPU if there is one
    python benchmarks/attention_length.py --device cpu --longest 4096 --seconds 100 --out OUT

One sublayer, 256 wide, 4 heads, one row of text, forward and backward, bfloat16 on a GPU and float32 on one thread of a
CPU; from left to right where the part can. Every registered part is measured: those of parts/attention inside the mixer
`attention`, and the other mixers. Seconds are of the processor on a CPU, which others may use too. Memory is what the
GPU had allocated at most beyond inputs and weights; on a CPU, the tensors that are kept for the backward pass. A length
that would take too long or more memory than there is is left out, and the table says so. `exponent` is b of
seconds ≈ a · length^b over the last four lengths; `crosses` is the length from which on a part is faster than full
attention. Written are a table on standard output, and in OUT attention-length-DEVICE.json and two figures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chainrule.errors import ChainruleError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, find, names

WIDTH, HEADS, FULL = 256, 4, "full"
MIXERS, ATTENTION = "parts/mixers", "parts/attention"
Point = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    options.add_argument("--shortest", type=int, default=256)
    options.add_argument("--longest", type=int, default=65_536)
    options.add_argument("--seconds", type=float, default=150, help="of measuring in all; nothing is begun after that")
    options.add_argument("--each", type=float, default=1.0, help="the longest that a single pass may take")
    options.add_argument("--memory", type=float, default=None, help="GB that a pass may take; 80 %% of what there is")
    options.add_argument("--only", nargs="+")
    options.add_argument("--out", type=Path, default=Path("runs/attention-length"))
    given = options.parse_args()
    torch.set_num_threads(1)
    device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if given.device == "auto" else given.device)
    lengths = [given.shortest * 2**n for n in range(20) if given.shortest * 2**n <= given.longest]
    wanted = [each for each in parts() if not given.only or each[0] in given.only]
    found: dict[str, list[Point]] = {name: [] for name, _ in wanted}
    notes: dict[str, str] = {}
    until = time.monotonic() + given.seconds
    limit = given.memory * 1e9 if given.memory else free(device)
    for length in lengths:  # every part at one length before the next, so that an early end leaves comparable rows
        for name, choice in wanted:
            if name in notes:
                continue
            notes |= measured(name, choice, length, device, found[name], until, given.each, limit)
    shown(found, notes, device, given.out)


def parts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every attention inside the mixer `attention`, full attention first, then the other mixers."""
    for name in sorted(names(ATTENTION), key=lambda each: (each != FULL, each)):
        yield name, {"name": "attention", "heads": HEADS, "attend": {"name": name}}
    for name in names(MIXERS):
        if name != "attention" and not reads_a_source(name):
            yield name, {"name": name}


def reads_a_source(name: str) -> bool:
    return bool(getattr(find(MIXERS, name), "needs_source", False)) or name in ("cross_attention", "input_feeding",
                                                                               "thought_vector")


def measured(name: str, choice: dict[str, Any], length: int, device: torch.device, known: list[Point], until: float,
             each: float, limit: float) -> dict[str, str]:
    """Adds the point of one length; a note says why it and all longer ones are left out."""
    if time.monotonic() > until:
        return {name: f"no time left at {length:,}"}
    if known and (wait := expected(known, "seconds", length)) > each:
        return {name: f"about {wait:.1f} s at {length:,}"}
    if known and (much := expected(known, "bytes", length)) > limit:
        return {name: f"about {much / 1e9:.0f} GB at {length:,}"}
    try:
        known.append({"length": length, **point(choice, length, device)})
    except torch.OutOfMemoryError:
        return {name: f"out of memory at {length:,}"}
    except (ChainruleError, RuntimeError, NotImplementedError) as error:
        words = str(error).splitlines()[0][:90] if str(error) else type(error).__name__
        return {name: ("out of memory" if "memory" in words else f"failed ({words})") + f" at {length:,}"}
    finally:
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return {}


def expected(known: list[Point], what: str, length: int) -> float:
    """What the next length will take: as the last two grew, and at most as a square."""
    grew = known[-1][what] / known[-2][what] if len(known) > 1 and known[-2][what] else 4.0
    return known[-1][what] * min(max(grew, 1.0), 4.0) * length / (2 * known[-1]["length"])


def point(choice: dict[str, Any], length: int, device: torch.device) -> Point:
    """Seconds and memory of a pass forward and back: the best of three after a first, or one where it takes long."""
    part = find(ATTENTION, choice["attend"]["name"]) if "attend" in choice else find(MIXERS, choice["name"])
    causal = getattr(part, "reads", "either") != "both ways"
    place = Place(WIDTH, context=length, heads=HEADS, causal=causal)
    torch.manual_seed(0)
    with device:
        body: Any = build(MIXERS, choice, place)
    reading = Reading(causal, position=build("parts/positions", "none", place)).from_start(length, device)
    x = torch.randn(1, length, WIDTH, device=device, requires_grad=True)
    _, most = one_pass(body, x, reading, device)  # not timed: kernels may be built for a new length
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 1.0:
        seconds.append(one_pass(body, x, reading, device)[0])
    return {"seconds": min(seconds), "bytes": most, "causal": causal}


def one_pass(body: Any, x: torch.Tensor, reading: Reading, device: torch.device) -> tuple[float, int]:
    on_gpu, kept = device.type == "cuda", {}
    body.zero_grad(set_to_none=True)
    x.grad = None
    if on_gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    clock = time.perf_counter if on_gpu else time.process_time
    began = clock()
    with torch.autocast("cuda", torch.bfloat16, enabled=on_gpu):
        if on_gpu:
            y, _ = body(x, None, reading)
        else:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
                y, _ = body(x, None, reading)
    y.float().square().mean().backward()
    if on_gpu:
        torch.cuda.synchronize()
        return clock() - began, torch.cuda.max_memory_allocated() - before
    return clock() - began, sum(kept.values())


def free(device: torch.device) -> float:
    if device.type == "cuda":
        return 0.8 * torch.cuda.mem_get_info()[0]
    from chainrule.storage.environment import memory

    return 0.3 * memory()


def exponent(known: list[Point]) -> float | None:
    """b of seconds ≈ a · length^b, by least squares over the last four lengths."""
    last = known[-4:]
    if len(last) < 3:
        return None
    return float(np.polyfit([math.log(p["length"]) for p in last], [math.log(p["seconds"]) for p in last], 1)[0])


def crosses(known: list[Point], full: list[Point]) -> str:
    """The shortest length from which on it is always faster than full attention."""
    other = {p["length"]: p["seconds"] for p in full}
    both = [(p["length"], p["seconds"] < other[p["length"]]) for p in known if p["length"] in other]
    from_here = None
    for length, faster in reversed(both):
        if not faster:
            break
        from_here = length
    return "–" if from_here is None else f"{from_here:,}"


def shown(found: dict[str, list[Point]], notes: dict[str, str], device: torch.device, out: Path) -> None:
    from chainrule.figures.lines import Chart, Line, chart

    name = f"attention-length-{device.type}"
    out.mkdir(parents=True, exist_ok=True)
    rows = {each: {"points": known, "exponent": exponent(known), "crosses": crosses(known, found.get(FULL, [])),
                   "note": notes.get(each)} for each, known in found.items()}
    facts = {"device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "torch": torch.__version__,
             "width": WIDTH, "heads": HEADS, "parts": rows}
    (out / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    for what, label, scale in (("seconds", "seconds, forward and backward", 1.0), ("bytes", "MB", 1e-6)):
        lines = [Line(each, [p["length"] for p in known], [p[what] * scale for p in known])
                 for each, known in found.items() if known]
        drawn = chart(Chart(f"Cost against length ({facts['device']})", "tokens", label, lines, log=True, x_log=True))
        (out / f"{name}-{'memory' if what == 'bytes' else what}.svg").write_text(drawn.svg(), encoding="utf-8")
    lengths = sorted({p["length"] for known in found.values() for p in known})
    some = [length for n, length in enumerate(lengths) if n % 2 == 0 or length == lengths[-1]]
    print(f"| part | {' | '.join(f'{length:,}' for length in some)} | MB at the longest | exponent | crosses | note |")
    print("|" + "---|" * (len(some) + 5))
    for each, row in rows.items():
        at = {p["length"]: f"{_three_digits(1000 * p['seconds'])} ms" for p in row["points"]}
        memory = _three_digits(row["points"][-1]["bytes"] / 1e6) if row["points"] else ""
        power = "" if row["exponent"] is None else f"{row['exponent']:.2f}"
        print(f"| `{each}` | {' | '.join(at.get(length, '') for length in some)} | {memory} | {power} | "
              f"{'' if each == FULL else row['crosses']} | {row['note'] or ''} |")


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
