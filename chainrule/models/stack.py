"""A neural model is a sentence of sublayers: embedding, sublayers, norm; the head is put on top by who uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, arange, nn

from chainrule.models.pattern import sublayers
from chainrule.parts.state import Reading
from chainrule.recipe.registry import build, options
from chainrule.watching import note, placed

Choice = str | Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """Everything that a stack is built from: the sentence, and which part each letter stands for."""

    pattern: str = "(sf)*4"
    width: int = 128
    context: int = 128
    s: Choice = "attention"
    r: Choice = "lstm"
    c: Choice = "gated_convolution"
    w: Choice = "window"
    x: Choice = "cross_attention"
    f: Choice = "swiglu"
    norm: Choice = "rms"
    wiring: Choice = "pre_norm"
    position: Choice = "rotary"
    embedding: Choice = "lookup"
    head: Choice = "tied"
    dropout: Choice = field(default_factory=lambda: {"name": "independent", "rate": 0.0})

    @property
    def heads(self) -> int:
        """Of the attention, for position parts that keep something for each head."""
        chosen = {"name": self.s} if isinstance(self.s, str) else self.s
        known = options("parts/mixers", chosen["name"]).get("heads")
        return 1 if known is None else int(chosen.get("heads", known.default))


@dataclass(frozen=True)
class StackState:
    """What each sublayer remembers, and how many tokens have been read."""

    sublayers: tuple[Any, ...]
    length: int


class Sublayer(nn.Module):
    """One letter of the sentence: a mixer or a feedforward in its wiring."""

    def __init__(self, letter: str, shape: Shape, depth: int):
        super().__init__()
        self.mixes = letter != "f"
        kind = "parts/mixers" if self.mixes else "parts/feedforwards"
        self.body: Any = build(kind, getattr(shape, letter), shape.width, depth)
        self.wiring = build("parts/wirings", shape.wiring, partial(build, "parts/norms", shape.norm, shape.width),
                            partial(build, "parts/dropouts", shape.dropout), depth)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any]:
        if self.mixes:
            x, state = self.wiring(x, lambda inward: self.body(inward, state, reading))
        else:
            x, state = self.wiring(x, lambda inward: (self.body(inward), None))
        note("output", x)
        return x, state


class Stack(nn.Module):
    """embedding → sublayers → norm, on whole sequences or one token at a time: the same code with another length."""

    def __init__(self, shape: Shape, vocabulary_size: int):
        super().__init__()
        letters = sublayers(shape.pattern)
        self.shape, self.letters = shape, letters
        self.embedding = build("parts/embeddings", shape.embedding, vocabulary_size, shape.width)
        self.position = build("parts/positions", shape.position, shape.width, shape.heads, shape.context)
        self.dropout = build("parts/dropouts", shape.dropout)
        self.sublayers = nn.ModuleList(Sublayer(letter, shape, len(letters)) for letter in letters)
        last = self.sublayers[-1].wiring
        self.norm = build("parts/norms", shape.norm if getattr(last, "ends_with_norm", False) else "none", shape.width)
        self.head = build("parts/heads", shape.head, shape.width, self.embedding.weight)

    @property
    def bounded(self) -> bool:
        """Whether it can read only so many tokens at once: attention, or learned positions."""
        return any(letter in "sx" for letter in self.letters) or self.position.context is not None

    def start(self, batch: int, room: int) -> StackState:
        """The state before the first token; caches have room for so many."""
        like = self.embedding.weight
        layers: Any = self.sublayers
        states = (layer.body.start(batch, room, like) if layer.mixes else None for layer in layers)
        return StackState(tuple(states), 0)

    def forward(self, ids: Tensor, state: StackState | None = None, reading: Reading | None = None
                ) -> tuple[Tensor, StackState | None]:
        """(B, T) ids to (B, T, D) hidden states, ready for the head. With a state the ids go on from it."""
        given = reading or Reading()
        given = Reading(given.causal, given.lengths, given.source, given.source_lengths, self.position)
        offset = 0 if state is None else state.length
        positions = arange(offset, offset + ids.shape[1], device=ids.device)
        x = self.dropout(self.position.embed(self.embedding(ids), positions))
        note("stack", self)
        note("embedded", x)
        states = []
        for n, layer in enumerate(self.sublayers):
            x, after = placed(f"sublayers.{n}", layer, x, None if state is None else state.sublayers[n], given)
            states.append(after)
        return self.norm(x), None if state is None else StackState(tuple(states), offset + ids.shape[1])
