"""A neural model: embedding, a pattern of sublayers, norm, and a head that predicts; with a source to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.models.given import Given
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.sublayer import Change, sublayers
from chainrule.parts import state as states
from chainrule.parts.norms._summed import summed
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.parts.wirings._wiring import Wiring
from chainrule.recipe.registry import build
from chainrule.watching import note, placed


@dataclass(frozen=True)
class StackState:
    """The state of each sublayer, and how many tokens each row has read (B,)."""

    sublayers: tuple[Any, ...]
    lengths: Tensor


class Stack(nn.Module):
    """embedding → sublayers → norm, on whole sequences or one token at a time: the same code with another length.

    `source` is another stack, without a head, whose vectors cross-attention looks at; it may share the embedding.
    """

    def __init__(self, shape: Shape, sizes: Sizes | int, *, has_head: bool = True, embedding: nn.Module | None = None,
                 reader_depth: int = 0):
        super().__init__()
        self.shape, self.letters, self.sizes = shape, shape.letters, Sizes.of(sizes)
        place = Place(shape.width, len(self.letters), 0, shape.context, shape.heads, shape.causal,
                      self.sizes.vocabulary, self.sizes.outputs, features=self.sizes.features,
                      source_width=None if shape.source is None else shape.source.width,
                      source_context=None if shape.source is None else shape.source.context,
                      source_causal=shape.source is None or shape.source.causal,
                      source_depth=0 if shape.source is None else len(shape.source.letters), reader_depth=reader_depth)
        self.embedding: Any = embedding or build("parts/embeddings", shape.embedding, place)
        self.position: Any = build("parts/positions", shape.position, place)
        self._check_context()
        self.dropout = build("parts/dropouts", shape.dropout, replace(place, index=-1))
        self.sublayers = nn.ModuleList(sublayers(shape, place))
        ends = any(wiring.ends_with_norm for wiring in self.wirings[-1:])
        self.norm = build("parts/norms", shape.norm if ends else "none", place)
        self.pooling: Any = None if shape.pooling is None else build("parts/poolings", shape.pooling, place)
        self.pooled_dropout = build("parts/dropouts", shape.dropout, replace(place, index=len(self.letters)))
        wide = place if self.pooling is None else replace(place, width=self.pooling.width)
        self.head: Any = build("parts/heads", shape.head, wide, self.embedding) if has_head else None
        self.source = self._source()
        grows = any(getattr(layer.body, "bounded", False) for layer in self.sublayers)
        self.bounded = grows or self.position.context is not None  # it can read only so many tokens at once
        self._check_heads()
        self._check_streams()

    def _source(self) -> Stack | None:
        shape, sizes = self.shape.source, self.sizes.source
        if shape is None:
            return None
        if shape.shared_embedding and sizes is not None and sizes.vocabulary != self.sizes.vocabulary:
            raise OptionError("model.source.shared_embedding", True, "false, since source and target have different "
                              "vocabularies", "Give them one: task.vocabulary=shared.")
        return Stack(shape, sizes or self.sizes, has_head=False,
                     embedding=self.embedding if shape.shared_embedding else None, reader_depth=len(self.letters))

    def _check_context(self) -> None:
        """Of an input that always becomes so many vectors, a position part must know them all."""
        vectors, known = getattr(self.embedding, "vectors", 0), self.position.context
        if known is not None and vectors > known:
            raise OptionError("model.context", known, f"at least {vectors}, the vectors of an input")

    def _check_heads(self) -> None:
        """Position parts with a value for each head need the same number of heads in all sublayers."""
        found = {cast(Any, each).heads for each in self.sublayers.modules() if getattr(each, "asks_position", False)}
        if self.position.biases and len(found) > 1:
            raise OptionError("model.position", self.shape.position, "rotary or another one that is the same for all "
                              "heads", f"The attention sublayers have {' and '.join(map(str, sorted(found)))} heads.")

    def _check_streams(self) -> None:
        """Stream parts need a stream of vectors, and heads that predict for every token one for each."""
        layers: Any = self.sublayers
        for layer in layers:
            if getattr(layer.body, "reads", "either") == ("both ways" if self.shape.causal else "causal"):
                way = "from left to right" if self.shape.causal else "both ways"
                raise OptionError("model.pattern", self.shape.pattern, f"parts that read {way}", f"The part "
                                  f"{type(layer.body).__name__} does not.")
        if len(self.wirings) < len(layers) and any(type(each).open is not Wiring.open for each in self.wirings):
            raise OptionError("model.wiring", self.shape.wiring, "one with a single stream, beside stream parts")
        needed = self.head is not None and self.pooling is None and getattr(self.head, "aligned", True)
        copied = self.source is not None and getattr(self.head, "looks_at_source", False)
        for stack in [*([self] if needed else []), *([self.source] if copied else [])]:
            if stack is not None and stack._after_sublayers(1 << 20) != 1 << 20:
                raise OptionError("model.pattern", stack.shape.pattern, "a letter with `upsample` behind those with "
                                  "`pool`", "The head needs a vector for each token.")

    @property
    def width(self) -> int:
        return self.shape.width

    @property
    def vocabulary(self) -> int:
        """Different tokens that it reads."""
        return self.sizes.vocabulary

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
        for layer, state in zip(layers, found, strict=True):
            states.check(state, batch, type(layer.body).__module__.rpartition(".")[2])
        return StackState(found, torch.zeros(batch, dtype=torch.long, device=like.device))

    def forward(self, inputs: Tensor, state: StackState | None = None, reading: Reading | None = None,
                given: Given | None = None) -> tuple[Tensor, StackState | None]:
        """(B, T, …) inputs to (B, T′, D) hidden states, ready for the head. With a state they go on from it.

        `given` is a source, which is read first; a state has seen it already.
        """
        x, reading = self.embedding(inputs), reading or Reading(self.shape.causal)
        time = x.shape[1]
        if given is not None:
            reading = self.looking_at(given, reading)
        if reading.lengths is not None:
            reading = replace(reading, lengths=self._embedded(reading.lengths))
        here = self._placed(reading, state, time, x.device)
        x = self.dropout(self.position.embed(x, here.positions))
        note("embedded", x)
        x, after, added = self.opened(x), [], None
        self._show(x, added, here)
        for n, layer in enumerate(self.sublayers):
            own = None if state is None else state.sublayers[n]
            x, added, own, here = placed(f"sublayers.{n}", layer, x, added, own, here)
            after.append(own)
            self._show(x, added, here)
        _, hidden = summed(self.norm, self.closed(x), added)
        return hidden, None if state is None else StackState(tuple(after), self._longer(state.lengths, time))

    def _show(self, x: Tensor, added: Tensor | None, reading: Reading) -> None:
        """Keeps what the sublayers have made of a source so far, if what looks at it asks."""
        if reading.layers is not None:
            reading.layers.append(self.norm(self.closed(x if added is None else x + added)))

    @property
    def wirings(self) -> list[Any]:
        """Of all sublayers; stream parts have none."""
        return [layer.wiring for layer in self.sublayers if layer.wiring is not None]

    def opened(self, x: Tensor) -> Tensor:
        """(B, T, D) to the stream of the sublayers: the same, unless their wiring has another."""
        return self.wirings[0].open(x) if self.wirings else x

    def closed(self, x: Tensor) -> Tensor:
        """The stream to (B, T, D)."""
        return self.wirings[-1].close(x) if self.wirings else x

    def looking_at(self, given: Given, reading: Reading | None = None) -> Reading:
        """A reading with the vectors of a source."""
        assert self.source is not None, "this network has no source: model.source is null"
        asks = any(getattr(layer.body, "needs_source_layers", False) for layer in self.sublayers)
        layers: list[Tensor] | None = [] if asks else None
        own = Reading(self.source.shape.causal, lengths=given.lengths, layers=layers)
        vectors, _ = placed("source", self.source, given.inputs, None, own)
        return replace(reading or Reading(self.shape.causal), source=vectors,
                       source_layers=None if layers is None else tuple(layers),
                       source_lengths=None if given.lengths is None else self.source.lengths(given.lengths))

    def lengths(self, lengths: Tensor) -> Tensor:
        """How many vectors it makes of so many inputs: as many, unless the embedding or a stream part changes that."""
        return self._after_sublayers(self._embedded(lengths))

    def _embedded(self, lengths: Tensor) -> Tensor:
        changed = getattr(self.embedding, "lengths", None)
        return lengths if changed is None else changed(lengths)

    def _after_sublayers(self, full: Any) -> Any:
        lengths, layers = full, cast(Any, self.sublayers)
        for layer in layers:
            lengths = layer.body.lengths(lengths, full) if isinstance(layer, Change) else lengths
        return lengths

    def pooled(self, hidden: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B, T′, D) hidden states of rows with so many inputs to one vector each, (B, D)."""
        if self.pooling is None:
            raise OptionError("model.pooling", None, "mean, max, last or another pooling", "The task needs one vector "
                              "for each row.")
        found = self.pooling(hidden, None if lengths is None else self.lengths(lengths))
        return self.pooled_dropout(found[:, None])[:, 0]

    def summary(self, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B, T, …) inputs, so many of each row real, to one vector each, (B, D), ready for the head."""
        hidden, _ = self(inputs, None, Reading(self.shape.causal, lengths=lengths))
        return self.pooled(hidden, lengths)

    def example(self, rows: int, time: int, device: Any) -> tuple[Tensor, Given | None]:
        """Inputs of the right shape and type, for counting: what `forward` takes, and the source."""
        own = getattr(self.embedding, "example", None)
        inputs = torch.zeros(rows, time, dtype=torch.long, device=device) if own is None else own(rows, time, device)
        return inputs, None if self.source is None else Given(self.source.example(rows, time, device)[0])

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
