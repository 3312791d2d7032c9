"""The engine beside PyTorch eager: whole training steps (forward, backward, update), both in one run.

    python benchmarks/engine.py --rounds 30 --threads 2

Both begin from the same weights and must agree on the loss of several steps before they are timed. Times are the best
of several rounds in turns; a ratio above 1 says that the engine is faster. `ratio_cpu` is that of processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOMS = next((sys.argv[n + 1] for n, word in enumerate(sys.argv[:-1]) if word == "--threads"), "2")
for library in ("OMP", "OPENBLAS"):  # read when NumPy is loaded
    os.environ.setdefault(f"{library}_NUM_THREADS", ROOMS)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from peers import best_seconds, ratios, record  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from chainrule.engine import Composite, Module, Tensor  # noqa: E402
from chainrule.engine.modules.elman import Elman  # noqa: E402
from chainrule.engine.modules.embedding import Embedding  # noqa: E402
from chainrule.engine.modules.linear import Linear  # noqa: E402
from chainrule.engine.modules.rms_norm import RMSNorm  # noqa: E402
from chainrule.engine.modules.sigmoid import Sigmoid  # noqa: E402
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy  # noqa: E402
from chainrule.engine.modules.transformer_block import TransformerBlock  # noqa: E402
from chainrule.engine.optimizers.adamw import AdamW  # noqa: E402
from chainrule.engine.optimizers.sgd import SGD  # noqa: E402
from chainrule.models.shape import Shape  # noqa: E402
from chainrule.models.stack import Stack  # noqa: E402
from chainrule.training.optimizers._groups import groups  # noqa: E402

Step = Callable[[], float]
NETWORK = (784, 512, 10)
ELMAN = {"vocabulary": 2048, "width": 192, "layers": 2, "batch": 16, "context": 64}
TRANSFORMER = {"vocabulary": 65, "width": 128, "layers": 4, "batch": 12, "context": 64}


class Network(Composite):
    """784–512–10 with a sigmoid between."""

    def __init__(self) -> None:
        self.inward, self.bend, self.outward = Linear(*NETWORK[:2]), Sigmoid(), Linear(*NETWORK[1:])

    def forward(self, x: Tensor) -> Tensor:
        return self.outward(self.bend(self.inward(x)))


class ElmanLM(Composite):
    """Embedding, two Elman layers, the embedding again."""

    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        self.embedding = Embedding(vocabulary, width)
        self.layers = [Elman(width, width) for _ in range(layers)]
        self.head = Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: np.ndarray) -> Tensor:
        x = self.embedding(ids)
        for layer in self.layers:
            x, _ = layer(x)
        return self.head(x)


class TransformerLM(Composite):
    """Pre-norm, RMS, rotary, SwiGLU, tied: the sentence (sf)*4."""

    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        self.embedding = Embedding(vocabulary, width)
        self.blocks = [TransformerBlock(width, 2 * layers) for _ in range(layers)]
        self.norm = RMSNorm(width)
        self.head = Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: np.ndarray) -> Tensor:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class TorchElmanLM(nn.Module):
    """The same in torch, with its own nn.RNN."""

    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.rnn = nn.RNN(width, width, layers, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.linear(self.rnn(self.embedding(ids))[0], self.embedding.weight)


class TorchTransformerLM(nn.Module):
    """The stack that recipes train."""

    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.stack = Stack(Shape(pattern=f"(sf)*{layers}", width=width), vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.stack.head.scores(self.stack(ids)[0])


def our_step(model: Module, optimizer: SGD | AdamW, x: np.ndarray, y: np.ndarray) -> Step:
    loss = SoftmaxCrossEntropy()

    def step() -> float:
        model.clear()
        found = loss(model(x), y)
        found.backward()
        optimizer.step()
        return found.item()
    return step


def their_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: np.ndarray, y: np.ndarray) -> Step:
    x_, y_ = torch.from_numpy(x), torch.from_numpy(y).flatten()

    def step() -> float:
        optimizer.zero_grad()
        found = F.cross_entropy(model(x_).flatten(0, -2), y_)
        found.backward()
        optimizer.step()
        return found.item()
    return step


def network(batch: int) -> tuple[Step, Step]:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(batch, NETWORK[0])).astype(np.float32), random.integers(NETWORK[2], size=batch)
    ours = Network()
    theirs = nn.Sequential(nn.Linear(*NETWORK[:2]), nn.Sigmoid(), nn.Linear(*NETWORK[1:]))
    ours.load(dict(zip(ours.named_parameters(), arrays(theirs), strict=True)))
    return (our_step(ours, SGD(ours.parameters(), rate=0.01), x, y),
            their_step(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01), x, y))


def text(sizes: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.random.default_rng(0).integers(sizes["vocabulary"], size=(sizes["batch"], sizes["context"] + 1))
    return np.ascontiguousarray(ids[:, :-1]), np.ascontiguousarray(ids[:, 1:])


def elman() -> tuple[Step, Step]:
    shape = ELMAN["vocabulary"], ELMAN["width"], ELMAN["layers"]
    ours, theirs = ElmanLM(*shape), TorchElmanLM(*shape)
    given = {"embedding.weight": theirs.embedding.weight}
    for layer in range(ELMAN["layers"]):
        own = {name: getattr(theirs.rnn, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih")}
        nn.init.zeros_(getattr(theirs.rnn, f"bias_hh_l{layer}")).requires_grad_(False)  # the engine has one bias
        given |= dict(zip((f"layers.{layer}.{name}" for name in ("inward", "recurrent", "bias")), own.values(),
                          strict=True))
    return paired(ours, theirs, given, ELMAN)


def transformer() -> tuple[Step, Step]:
    shape = TRANSFORMER["vocabulary"], TRANSFORMER["width"], TRANSFORMER["layers"]
    ours, theirs = TransformerLM(*shape), TorchTransformerLM(*shape)
    own = dict(theirs.stack.named_parameters())
    given = {"embedding.weight": own["embedding.weight"], "norm.gain": own["norm.gain"]}
    for block in range(TRANSFORMER["layers"]):
        for number, name in ((2 * block, "attention"), (2 * block + 1, "feedforward")):
            given[f"blocks.{block}.{name}_norm.gain"] = own[f"sublayers.{number}.wiring.norm.gain"]
            for way in ("inward", "outward"):
                given[f"blocks.{block}.{name}.{way}.weight"] = own[f"sublayers.{number}.body.{way}.weight"]
    return paired(ours, theirs, given, TRANSFORMER)


def paired(ours: Module, theirs: nn.Module, given: dict[str, nn.Parameter], sizes: dict[str, int]) -> tuple[Step, Step]:
    ours.load({name: each.detach().numpy() for name, each in given.items()})
    x, y = text(sizes)
    optimizer = torch.optim.AdamW(groups(theirs.named_parameters(), 0.1), lr=1e-3, betas=(0.9, 0.95))
    return our_step(ours, AdamW(ours.parameters()), x, y), their_step(theirs, optimizer, x, y)


def arrays(module: nn.Module) -> list[np.ndarray]:
    return [each.detach().numpy() for each in module.parameters()]


WORKS: dict[str, tuple[Callable[[], tuple[Step, Step]], int]] = {  # and steps of a round
    "network-1": (lambda: network(1), 20), "network-64": (lambda: network(64), 10), "elman": (elman, 1),
    "transformer": (transformer, 1),
}


def repeated(step: Step, times: int) -> Callable[[], None]:
    def work() -> None:
        for _ in range(times):
            step()
    return work


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=30)
    options.add_argument("--steps", type=int, help="a round; otherwise as many as suit the size")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--works", nargs="+", choices=list(WORKS), default=list(WORKS))
    options.add_argument("--out", type=Path, help="a file to which results are appended as JSON lines")
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    for name in given.works:
        make, steps = WORKS[name]
        steps = given.steps or steps
        ours, theirs = make()
        losses = np.array([(ours(), theirs()) for _ in range(5)])
        assert np.allclose(losses[:, 0], losses[:, 1], rtol=1e-3), f"{name}: they do not compute the same\n{losses}"
        best = best_seconds({"engine": repeated(ours, steps), "torch": repeated(theirs, steps)}, given.rounds)
        record(given.out, benchmark="engine", name=name, threads=given.threads,
               milliseconds={who: round(1000 * taken.wall / steps, 3) for who, taken in best.items()},
               **ratios(best["engine"], best["torch"]))


if __name__ == "__main__":
    main()
