"""How a Transformer should know where a token stands: absolute × relative positions, and texts longer than in training.

    python benchmarks/positions.py --prepare ../shared/data --data runs/gpu/positions.npz
    python benchmarks/positions.py --data runs/gpu/positions.npz --out OUT --seconds 240 --side-by-side 8 [--seeds 2]
    python benchmarks/positions.py --tiny --out /tmp/positions

Grid: an encoder (4 layers, 256 wide) is pretrained on novels95 by masked language modeling with each absolute position
(none, learned, fixed and learnable sinusoidal) and each relative one (none and the same three, inside attention), then
fine-tuned on SST-2: validation loss per hidden token, and accuracy on the test sentences. Published, mean of GLUE: none
76.6, absolute learned 82.2, learnable sinusoidal relative 82.2, both 82.5.

Extrapolation: causal language models trained on windows of 128 tokens; then the loss of the tokens 0–127, 128–255,
256–511 and 512–1023 of windows of 1,024. A learned table has untrained rows beyond 128, which is what happens there.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from modifications_rows import SHARED
from side_by_side import Training, merged, run, shape, tiny

BASE = merged(SHARED, {"width": 256, "context": 128, "pattern": "(sf)*4", "s": {"heads": 4},
                       "position": {"name": "none"}})
WAVES = 0.07  # as large as embeddings are at first: with 1 they drown them, and nothing is learned in some minutes
ABSOLUTE: dict[str, dict[str, Any]] = {
    "none": {"name": "none"}, "learned": {"name": "learned"}, "sinusoidal": {"name": "sinusoidal", "scale": WAVES},
    "learnable sinusoidal": {"name": "learnable_sinusoidal", "scale": WAVES}}
RELATIVE: dict[str, dict[str, Any]] = {
    "none": {"name": "full"}, "learned": {"name": "relative"}, "sinusoidal": {"name": "relative_sinusoidal"},
    "learnable sinusoidal": {"name": "relative_learnable_sinusoidal"}}
FURTHER: dict[str, dict[str, Any]] = {  # for texts that are longer than in training
    **{f"absolute {name}": {"position": choice} for name, choice in ABSOLUTE.items()},
    **{f"relative {name}": {"s": {"attend": choice}} for name, choice in RELATIVE.items() if name != "none"},
    **{name: {"position": {"name": name}} for name in ("rotary", "alibi", "relative_bias")}}
ENDS = (128, 256, 512, 1024)  # of the stretches whose loss is measured
SST = "sst/stsa.binary"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--prepare", type=Path, help="folder with novels95 and sst: writes --data, and ends")
    options.add_argument("--data", type=Path, default=Path("runs/gpu/positions.npz"))
    options.add_argument("--out", type=Path, default=Path("runs/positions"))
    options.add_argument("--seconds", type=float, default=240)
    options.add_argument("--side-by-side", type=int, default=8)
    options.add_argument("--steps", type=int, default=1000)
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    if given.prepare is not None:
        return prepare(given.prepare, given.data)
    wanted, data = trainings(given.steps, given.seeds), given.data
    if given.tiny:
        given.out.mkdir(parents=True, exist_ok=True)
        wanted, data = [tiny(each) for each in wanted], made_up(given.out / "tiny.npz")
    show(run(wanted, data, given.out / "results.jsonl", workers=given.side_by_side, seconds=given.seconds))
    return None


def trainings(steps: int, seeds: int) -> list[Training]:
    """The corners of the grid first; parts that this package does not have are left out, aloud."""
    grid = {f"{absolute} × {relative}": {"position": ABSOLUTE[absolute], "s": {"attend": RELATIVE[relative]}}
            for absolute in ABSOLUTE for relative in RELATIVE}
    found = []
    for seed in range(seeds):
        for task, rows, then in (("masked_language", grid, "positions:fine_tuned"),
                                 ("language", FURTHER, "positions:further")):
            for name, change in rows.items():
                model = merged(BASE, change)
                if known(name, model):
                    found.append(Training(name, task, model, steps, 64, seed, then=then))
    return found


def known(name: str, model: dict[str, Any]) -> bool:
    from chainrule.errors import ChainruleError
    from chainrule.models.cost.counting import on_meta

    try:
        on_meta(shape(model), 100)
    except ChainruleError as error:
        print(f"left out: {name}: {error}")
        return False
    return True


def prepare(folder: Path, out: Path) -> None:
    """Text and labeled sentences as ids of one tokenizer, which knows the novels alone."""
    from chainrule.recipe.registry import build
    from chainrule.text.corpora import open_corpus
    from chainrule.text.encoded import encode, fit_and_encode
    from chainrule.text.options import TextOptions

    options = TextOptions()
    trainer = build("text/tokenizers", {"name": "byte_pair", "size": 16384})
    novels = folder / "novels95"
    tokenizer, text = fit_and_encode(open_corpus(str(novels / "train.txt.xz"), options), trainer, options)
    valid = encode(open_corpus(str(novels / "valid.txt.xz"), options), tokenizer, options)
    arrays: dict[str, Any] = {"train": np.asarray(text.ids)[:8_000_000], "valid": np.asarray(valid.ids)}
    for part in ("train", "dev", "test"):
        lines = [line.split(" ", 1) for line in (folder / f"{SST}.{part}").read_text("utf-8").splitlines()]
        ids = [np.asarray(tokenizer.encode(sentence))[:126] for _, sentence in lines]
        arrays |= {f"sst_{part}": np.concatenate(ids), f"sst_{part}_ends": np.cumsum([len(each) for each in ids]),
                   f"sst_{part}_labels": np.array([int(label) for label, _ in lines])}
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, **arrays, size=tokenizer.vocabulary_size, start=tokenizer.start, end=tokenizer.end)


def fine_tuned(learner: Any, held: dict[str, np.ndarray], epochs: int = 3, rate: float = 1e-4) -> dict[str, float]:
    """Accuracy on SST-2 after fine-tuning: the mean of all vectors, a linear map, every weight moves."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    from chainrule.parts.reading import Reading

    network, device = learner.network, learner.device
    torch.manual_seed(learner.plan.seed)
    head = nn.Linear(network.width, 2).to(device)
    optimizer = torch.optim.AdamW([*network.parameters(), *head.parameters()], lr=rate, weight_decay=0.01)
    draw = np.random.default_rng(learner.plan.seed)

    def scores(rows: list[np.ndarray]) -> Any:
        lengths = torch.tensor([len(row) for row in rows], device=device)
        longest = max(map(len, rows))
        inputs = torch.from_numpy(np.stack([np.pad(row, (0, longest - len(row))) for row in rows])).to(device)
        with learner.autocast():
            hidden, _ = network(inputs, None, Reading(False, lengths=lengths))
        real = (torch.arange(hidden.shape[1], device=device) < lengths[:, None])[..., None]
        return head((hidden.float() * real).sum(1) / lengths[:, None])

    sentences, labels = labeled(held, "train")
    steps = epochs * -(-len(sentences) // 32)
    for step in range(steps):
        if step % (steps // epochs) == 0:
            order = draw.permutation(len(sentences))
        chosen = order[np.arange(32 * step, 32 * step + 32) % len(order)]
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / (0.1 * steps)) * (1 - step / steps)
        wanted = torch.from_numpy(labels[chosen]).to(device)
        F.cross_entropy(scores([sentences[n] for n in chosen]), wanted).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    network.eval()
    with torch.no_grad():
        return {f"sst_{part}": right(scores, *labeled(held, part)) for part in ("dev", "test")}


def labeled(held: dict[str, np.ndarray], part: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Sentences between two end marks, as in pretraining, and their labels."""
    end = np.array([int(held["end"])])
    rows = np.split(held[f"sst_{part}"].astype(np.int64), held[f"sst_{part}_ends"][:-1])
    return [np.concatenate([end, row, end]) for row in rows], held[f"sst_{part}_labels"].astype(np.int64)


def right(scores: Any, sentences: list[np.ndarray], labels: np.ndarray) -> float:
    found = [scores(sentences[n:n + 64]).argmax(-1).cpu().numpy() for n in range(0, len(sentences), 64)]
    return float((np.concatenate(found) == labels).mean())


def further(learner: Any, held: dict[str, np.ndarray]) -> dict[str, Any]:
    """The loss of stretches of windows that are longer than in training."""
    import torch

    from chainrule.models.stack import Stack

    old = learner.network
    rows, longest = 32, ENDS[-1] * old.shape.context // ENDS[0]
    wide = type(old.shape)(**{**vars(old.shape), "context": longest})
    network = Stack(wide, old.sizes).to(learner.device).eval()
    own = dict(network.named_parameters())
    with torch.no_grad():
        for name, tensor in old.named_parameters():
            own[name][tuple(slice(0, size) for size in tensor.shape)] = tensor
        ids = held["valid"].astype(np.int64)
        rows = min(rows, (len(ids) - 1) // longest)
        windows = torch.from_numpy(np.stack([ids[n * longest:(n + 1) * longest + 1] for n in range(rows)]))
        losses = []
        for some in windows.to(learner.device).split(4):
            with learner.autocast():
                hidden, _ = network(some[:, :-1])
            log_p = network.head.log_probs(hidden)
            losses.append(-log_p.float().gather(-1, some[:, 1:, None])[..., 0])
    loss_T = torch.cat(losses).mean(0).cpu().numpy()
    bounds = [0, *(end * longest // ENDS[-1] for end in ENDS)]
    return {"by_stretch": [float(loss_T[a:b].mean()) for a, b in zip(bounds, bounds[1:], strict=False)]}


def show(found: list[dict[str, Any]]) -> None:
    good = [each for each in found if "failed" not in each]
    print("\n| absolute × relative | hidden token, nats | SST-2 dev | SST-2 test | seeds |\n|---|---|---|---|---|")
    for name in dict.fromkeys(each["name"] for each in good if each["task"] == "masked_language"):
        own = [each for each in good if each["name"] == name and each["task"] == "masked_language"]
        loss, dev, test = (statistics.mean(each[key] for each in own) for key in ("final", "sst_dev", "sst_test"))
        print(f"| {name} | {loss:.3f} | {100 * dev:.1f} | {100 * test:.1f} | {len(own)} |")
    print(f"\nNats per token:\n\n| position | {' | '.join(f'to {end:,}' for end in ENDS)} |")
    print("|" + "---|" * (len(ENDS) + 1))
    for each in good:
        if each["task"] == "language":
            print(f"| {each['name']} | {' | '.join(f'{value:.3f}' for value in each['by_stretch'])} |")
    for each in found:
        if "failed" in each:
            print(f"failed: {each['name']} ({each['task']}): {each['failed']}")


def made_up(path: Path) -> Path:
    """Random tokens and sentences, a few of them."""
    draw = np.random.default_rng(0)
    ids = draw.integers(2, 60, 2000).astype(np.uint16)
    sentences = {f"sst_{part}": ids[:80] for part in ("train", "dev", "test")}
    ends = {f"sst_{part}_ends": np.arange(8, 81, 8) for part in ("train", "dev", "test")}
    labels = {f"sst_{part}_labels": np.arange(10) % 2 for part in ("train", "dev", "test")}
    np.savez(path, train=ids, valid=ids[:400], size=60, start=0, end=1, **sentences, **ends, **labels)
    return path


if __name__ == "__main__":
    main()
