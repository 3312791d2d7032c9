"""One letter of the pattern as a module: a sublayer in its wiring, or a change of the stream itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.models.shape import STREAMS, Shape
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, find, resolve
from chainrule.watching import note, watched

Passed = tuple[Tensor, Tensor | None, Any, Reading]  # the stream, what is still to be added, the state, the reading


class Sublayer(nn.Module):
    """A mixer or a feedforward in its wiring; a fresh one has first weights that the wiring may change."""

    def __init__(self, body: nn.Module, shape: Shape, place: Place, *, fresh: bool):
        super().__init__()
        self.width, self.body = place.width, cast(Any, body)
        self.wiring: Any = build("parts/wirings", shape.wiring, place, partial(build, "parts/norms", shape.norm, place),
                                 partial(build, "parts/dropouts", shape.dropout, place))
        if fresh:
            self.wiring.initialize(self.body, place)

    def forward(self, x: Tensor, added: Tensor | None, state: Any, reading: Reading) -> Passed:
        """Takes and returns the stream and a term that is still to be added to it."""
        if watched():  # then each sublayer by itself
            x, added = (x, None) if added is None else self.wiring.settled(x, added)
            note("inward", x)
        x, added, state = self.wiring.flow(x, added, lambda inward: self.body(inward, state, reading))
        if watched():
            note("output", self.wiring.close(x if added is None else x + added))
        return x, added, state, reading


class Change(nn.Module):
    """A stream part: it has no wiring, and may change what the letters behind it read."""

    wiring = None

    def __init__(self, body: nn.Module, place: Place):
        super().__init__()
        self.width, self.body = place.width, cast(Any, body)

    def forward(self, x: Tensor, added: Tensor | None, state: Any, reading: Reading) -> Passed:
        x = x if added is None else x + added
        note("inward", x)
        x, state, reading = self.body(x, state, reading)
        note("output", x)
        return x, None, state, reading


def sublayers(shape: Shape, place: Place) -> list[Sublayer | Change]:
    """One for each slot; those that share weights and wiring are one and the same."""
    bodies: dict[int, nn.Module] = {}
    made: dict[int, Sublayer | Change] = {}
    chosen = {letter: (shape.kind(letter), shape.part(letter)) for letter in dict.fromkeys(shape.letters)}
    scales = cast(Any, find("parts/wirings", resolve("parts/wirings", shape.wiring)["name"])).scales_with_depth
    times, width, widths = Counter(slot.weights for slot in shape.slots), place.width, dict[str, int]()
    wired = 0
    for index, slot in enumerate(shape.slots):
        if widths.setdefault(slot.letter, width) != width:
            raise OptionError("model.pattern", shape.pattern, f"another letter for a sublayer that reads {width} "
                              f"numbers than for one that reads {widths[slot.letter]}; here both are {slot.letter!r}",
                              "model.parts gives a part to any letter.")
        if slot.wiring not in made:
            (kind, part), fresh = chosen[slot.letter], slot.weights not in bodies
            here = replace(place, index=index, wired=wired, times=times[slot.weights], width=width)
            if fresh:
                bodies[slot.weights] = build(kind, part, here if scales or kind == STREAMS else replace(here, depth=1))
            made[slot.wiring] = Change(bodies[slot.weights], here) if kind == STREAMS else (
                Sublayer(bodies[slot.weights], shape, here, fresh=fresh))
        wired += made[slot.wiring].wiring is not None
        width = width_after(made[slot.wiring], slot.letter, shape)
    if width != place.width:
        raise OptionError("model.pattern", shape.pattern, f"a last sublayer that is model.width = {place.width} wide; "
                          f"this one is {width}", "What the head reads is as wide as a token.")
    return [made[slot.wiring] for slot in shape.slots]


def width_after(layer: Sublayer | Change, letter: str, shape: Shape) -> int:
    """How wide the stream is behind a sublayer: as before it, unless its part says otherwise."""
    after = getattr(layer.body, "output_width", layer.width)
    if after != layer.width and not (layer.wiring is not None and layer.wiring.changes_width):
        raise OptionError("model.wiring", shape.wiring, "plain or another that adds nothing to the stream",
                          f"The sublayer {letter!r} reads {layer.width} numbers and gives {after}.")
    return after
