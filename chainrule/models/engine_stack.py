"""A stack of sublayers on the project's own engine: NumPy only, with the weights of the torch stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.engine import Composite, Parameter, Tensor
from chainrule.engine.modules.dropout import Dropout
from chainrule.engine.modules.linear import Linear
from chainrule.engine.tensor import taping
from chainrule.errors import UsageError
from chainrule.models.engine_parts.mixers import Attention, Recurrence
from chainrule.models.engine_parts.twin import build_twin, differs_in_training
from chainrule.models.shape import Shape
from chainrule.parts.place import Place
from chainrule.watching import note, placed, watched

BESIDE = {"norm": "parts/norms", "wiring": "parts/wirings", "position": "parts/positions",
          "embedding": "parts/embeddings", "head": "parts/heads", "dropout": "parts/dropouts"}
Random = np.random.Generator


@dataclass(frozen=True)
class EngineState:
    """The state of each sublayer, as arrays with the row first, and how many tokens each row has read (B,)."""

    sublayers: tuple[Any, ...]
    lengths: np.ndarray


class Sublayer(Composite):
    """One letter of the pattern in its wiring."""

    def __init__(self, letter: str, shape: Shape, place: Place, random: Random, body: Any = None):
        self.body: Any = body or build_twin(shape.kind(letter), shape.part(letter), place, random, f"model.{letter}")
        norm, dropout = (build_twin(BESIDE[each], getattr(shape, each), place, random, f"model.{each}")
                         for each in ("norm", "dropout"))
        wiring = build_twin(BESIDE["wiring"], shape.wiring, place, random, "model.wiring")
        self.wiring: Any = wiring.dressed(norm, dropout)

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        if watched() and taping():
            note("inward", x)
        y, after = self.wiring(x, lambda inward: self.body(inward, state))
        note("output", y.value)
        return y, after


class EngineStack(Composite):
    """embedding → sublayers → norm → head; parameters have the names that the torch stack gives them."""

    def __init__(self, shape: Shape, vocabulary: int, random: Random):
        if not shape.causal:
            raise UsageError("the engine reads in one direction. A task that reads both ways needs the family neural.")
        self.shape, self.letters, self.vocabulary = shape, shape.letters, vocabulary
        place = Place(shape.width, len(self.letters), 0, shape.context, shape.heads, True, vocabulary, vocabulary)
        self.embedding, self.position, self.dropout = (self._beside(each, place, random)
                                                       for each in ("embedding", "position", "dropout"))
        self.sublayers = list(self._sublayers(place, random))
        if self.sublayers[-1].wiring.norms:
            self.norm = self._beside("norm", place, random)
        self.head = self._beside("head", place, random)
        if self.head.tied:
            self.head.weight = self.embedding.weight
        for layer in self.sublayers:
            if isinstance(layer.body, Attention) and self.position.turns:
                layer.body.attend.rotary = self.position.base
        self.bounded = self.position.bounded or any(getattr(each.body, "bounded", False) for each in self.sublayers)
        self.recurrent = any(getattr(each.body, "recurrent", False) for each in self.sublayers)

    def _beside(self, name: str, place: Place, random: Random) -> Any:
        return build_twin(BESIDE[name], getattr(self.shape, name), place, random, f"model.{name}")

    def _sublayers(self, place: Place, random: Random) -> Iterator[Sublayer]:
        bodies: dict[int, Any] = {}
        made: dict[int, Sublayer] = {}
        for slot in self.shape.slots:
            if slot.wiring not in made:
                made[slot.wiring] = Sublayer(slot.letter, self.shape, place, random, bodies.get(slot.weights))
                bodies[slot.weights] = made[slot.wiring].body
            yield made[slot.wiring]

    @property
    def width(self) -> int:
        return self.shape.width

    @property
    def dtype(self) -> np.dtype:
        return self.embedding.weight.value.dtype

    def language_model(self, start: int) -> Any:
        """The stack as a language model whose texts begin with the token <s>."""
        from chainrule.models.engine_language import EngineLanguageModel

        return EngineLanguageModel(self, start)

    def start(self, batch: int, room: int = 0) -> EngineState:
        """The state before the first token; of attention an empty cache, which grows by itself."""
        found = tuple(layer.body.start(batch) if hasattr(layer.body, "start") else None for layer in self.sublayers)
        return EngineState(found, np.zeros(batch, np.int64))

    def forward(self, ids: np.ndarray, state: EngineState | None = None) -> tuple[Tensor, EngineState | None]:
        """(B, T) ids to (B, T, D), ready for the head; with a state they go on from it."""
        x = self.position(self.embedding(ids), self._positions(ids.shape[1], state))
        if self.dropout.rate and self.training:
            x = self.dropout(x)
        note("embedded", x.value)
        after = []
        for n, layer in enumerate(self.sublayers):
            x, own = placed(f"sublayers.{n}", layer, x, None if state is None else state.sublayers[n])
            after.append(own)
        x = self.norm(x) if hasattr(self, "norm") else x
        return x, None if state is None else EngineState(tuple(after), state.lengths + ids.shape[1])

    @staticmethod
    def _positions(time: int, state: EngineState | None) -> np.ndarray:
        """(T,) if all rows have read equally many tokens, else (B, T)."""
        ahead = np.arange(time)
        if state is None or not len(state.lengths):
            return ahead
        first = int(state.lengths[0])
        return ahead + first if (state.lengths == first).all() else state.lengths[:, None] + ahead

    def flops_per_token(self, context: int) -> float:
        """Forward and backward as `chainrule cost` counts them: matrix products, attention over the whole context."""
        weights, looked = float(self.head.weight.value.size), 0.0
        for layer in self.sublayers:
            weights += sum(each.weight.value.size for _, each in layer.body.modules() if isinstance(each, Linear))
            if isinstance(layer.body, Recurrence):
                weights += layer.body.cell.inward.value.size + layer.body.cell.recurrent.value.size
            looked += context * self.shape.width * isinstance(layer.body, Attention)
        return 3 * (2.0 * weights + 4.0 * looked)

    def draw(self, seed: int, step: int) -> None:
        """Seeds dropout by seed and step, so that checkpoints need no random state."""
        for number, (_, module) in enumerate(self.modules()):
            if isinstance(module, Dropout) and module.rate:
                module.random = np.random.default_rng([seed, step, number])


def training_differences(shape: Shape) -> dict[str, Any]:
    """Options that only change training and that the engine does not support, with the engine's values."""
    found: dict[str, Any] = {}
    for letter in dict.fromkeys(shape.letters):
        found |= differs_in_training(shape.kind(letter), shape.part(letter), f"model.{letter}")
    for name, kind in BESIDE.items():
        found |= differs_in_training(kind, getattr(shape, name), f"model.{name}")
    return found


def parameters_by_torch_name(stack: EngineStack) -> dict[str, Parameter]:
    """The stack's parameters as the torch stack calls them: a twin says where its names differ."""
    found = dict(stack.named_parameters())
    for n, layer in enumerate(stack.sublayers):
        for own, name in getattr(layer.body, "torch_names", {}).items():
            if (full := f"sublayers.{n}.body.{own}") in found:
                found[f"sublayers.{n}.body.{name}"] = found.pop(full)
    return found


def exported(stack: EngineStack) -> dict[str, np.ndarray]:
    """The weights as the torch stack of the same shape has them: there Elman and LSTM cells have two biases."""
    found = {name: each.value for name, each in parameters_by_torch_name(stack).items()}
    for name in [name for name in found if name.endswith("fused.bias_ih_l0")]:
        found.setdefault(name.replace("bias_ih", "bias_hh"), np.zeros_like(found[name]))
    return found


def imported(stack: EngineStack, given: dict[str, np.ndarray]) -> None:
    """The reverse: two biases that are only ever added become one."""
    own = parameters_by_torch_name(stack)
    merged = dict(given)
    for name in [name for name in given if name.endswith("fused.bias_hh_l0") and name not in own]:
        merged[name.replace("bias_hh", "bias_ih")] = given[name.replace("bias_hh", "bias_ih")] + merged.pop(name)
    names = {id(parameter): name for name, parameter in stack.named_parameters().items()}
    stack.load({names[id(own[name])] if name in own else name: value for name, value in merged.items()})
