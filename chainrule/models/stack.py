"""A neural model: embedding, a pattern of sublayers, norm, and a head that predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.parts import state as states
from chainrule.parts.norms._summed import summed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, find, resolve
from chainrule.watching import note, placed, watched


@dataclass(frozen=True)
class StackState:
    """The state of each sublayer, and how many tokens each row has read (B,)."""

    sublayers: tuple[Any, ...]
    lengths: Tensor


class Sublayer(nn.Module):
    """One letter of the pattern: a mixer or a feedforward in its wiring."""

    def __init__(self, letter: str, shape: Shape, place: Place):
        super().__init__()
        wiring: Any = find("parts/wirings", resolve("parts/wirings", shape.wiring)["name"])
        inside = place if wiring.scales_with_depth else replace(place, depth=1)
        self.body: Any = build(shape.kind(letter), shape.part(letter), inside)
        self.wiring: Any = build("parts/wirings", shape.wiring, place, partial(build, "parts/norms", shape.norm, place),
                                 partial(build, "parts/dropouts", shape.dropout, place))
        self.wiring.initialize(self.body, place)

    def forward(self, x: Tensor, added: Tensor | None, state: Any, reading: Reading
                ) -> tuple[Tensor, Tensor | None, Any]:
        """Takes and returns the stream and a term that is still to be added to it."""
        if watched():  # then each sublayer by itself
            x, added = x if added is None else x + added, None
            note("inward", x)
        x, added, state = self.wiring.flow(x, added, lambda inward: self.body(inward, state, reading))
        if watched():
            x, added = x if added is None else x + added, None
            note("output", x)
        return x, added, state


class Stack(nn.Module):
    """embedding → sublayers → norm, on whole sequences or one token at a time: the same code with another length."""

    def __init__(self, shape: Shape, vocabulary: int, outputs: int | None = None):
        super().__init__()
        self.shape, self.letters, self.vocabulary = shape, shape.letters, vocabulary
        place = Place(shape.width, len(self.letters), 0, shape.context, shape.heads, shape.causal, vocabulary,
                      vocabulary if outputs is None else outputs)
        self.embedding: Any = build("parts/embeddings", shape.embedding, place)
        self.position: Any = build("parts/positions", shape.position, place)
        self.dropout = build("parts/dropouts", shape.dropout, place)
        self.sublayers = nn.ModuleList(self._sublayers(place))
        layers: Any = self.sublayers
        ends = layers[-1].wiring.ends_with_norm
        self.norm = build("parts/norms", shape.norm if ends else "none", place)
        self.head: Any = build("parts/heads", shape.head, place, self.embedding)
        grows = any(getattr(layer.body, "bounded", False) for layer in self.sublayers)
        self.bounded = grows or self.position.context is not None  # it can read only so many tokens at once
        self._check_heads()

    def _sublayers(self, place: Place) -> list[Sublayer]:
        """One for each slot; those that share weights are one and the same."""
        made: dict[int, Sublayer] = {}
        for index, slot in enumerate(self.shape.slots):
            if slot.weights not in made:
                made[slot.weights] = Sublayer(slot.letter, self.shape, replace(place, index=index))
        return [made[slot.weights] for slot in self.shape.slots]

    def _check_heads(self) -> None:
        """Position parts with a value for each head need the same number of heads in all sublayers."""
        layers: Any = self.sublayers
        found = {layer.body.heads for layer in layers if getattr(layer.body, "asks_position", False)}
        if self.position.biases and len(found) > 1:
            raise OptionError("model.position", self.shape.position, "rotary or another one that is the same for all "
                              "heads", f"The attention sublayers have {' and '.join(map(str, sorted(found)))} heads.")

    @property
    def width(self) -> int:
        return self.shape.width

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def recurrent(self) -> bool:
        """Whether some sublayer has unlimited memory, so that texts are best read from beginning to end."""
        return any(getattr(layer.body, "recurrent", False) for layer in self.sublayers)

    def language_model(self, start: int) -> Any:
        """The stack as a language model whose texts begin with the token <s>."""
        from chainrule.models.language import NeuralLanguageModel

        return NeuralLanguageModel(self, start)

    def start(self, batch: int, room: int) -> StackState:
        """The state before the first token; caches have room for so many."""
        like = next(self.parameters())
        layers: Any = self.sublayers
        found = tuple(layer.body.start(batch, room, like) for layer in layers)
        for letter, state in zip(self.letters, found, strict=True):
            states.check(state, batch, self.shape.part(letter)["name"])
        return StackState(found, torch.zeros(batch, dtype=torch.long, device=like.device))

    def forward(self, inputs: Tensor, state: StackState | None = None, reading: Reading | None = None
                ) -> tuple[Tensor, StackState | None]:
        """(B, T) tokens to (B, T, D) hidden states, ready for the head. With a state they go on from it."""
        time = inputs.shape[1]
        given = self._placed(reading or Reading(self.shape.causal), state, time, inputs.device)
        x = self.dropout(self.position.embed(self.embedding(inputs), given.positions))
        note("embedded", x)
        after, added = [], None
        for n, layer in enumerate(self.sublayers):
            own = None if state is None else state.sublayers[n]
            x, added, own = placed(f"sublayers.{n}", layer, x, added, own, given)
            after.append(own)
        _, hidden = summed(self.norm, x, added)
        return hidden, None if state is None else StackState(tuple(after), self._longer(state.lengths, time))

    @staticmethod
    def _longer(lengths: Tensor, time: int) -> Tensor:
        """In place outside training: advancing a state consumes it."""
        return lengths + time if torch.is_grad_enabled() else lengths.add_(time)

    def _placed(self, given: Reading, state: StackState | None, time: int, device: torch.device) -> Reading:
        """The reading with the position part and the positions of the inputs, unless the caller has set them."""
        placed = replace(given, position=self.position)
        if given.positions is not None:
            return placed
        if state is None:
            return placed.from_start(time, device)
        return placed.after(state.lengths, time) if self.bounded else placed.after_any(state.lengths, time)
