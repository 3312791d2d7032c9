"""Everything that a stack is built from, as plain values: the pattern, and which part each letter stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chainrule.errors import OptionError
from chainrule.models.pattern import Slot, slots
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import has, kind_of, options, resolve

USUAL = {"s": "attention", "r": "lstm", "c": "gated_convolution", "w": "window", "x": "cross_attention",
         "f": "swiglu"}  # the default part of each letter
LONGEST = 1 << 24  # tokens of a context
ATTENTION = "parts/attention"
MIXERS = "parts/mixers"
STREAMS = "parts/streams"
SUBLAYERS = f"{MIXERS}|parts/feedforwards|{ATTENTION}|{STREAMS}"


@dataclass(frozen=True)
class Shape:
    """The architecture of a stack, the same for torch and the engine."""

    pattern: str = "(sf)*4"
    width: int = 128
    context: int = 128
    parts: Mapping[str, Choice] = field(default_factory=dict)  # by letter
    norm: Choice = "rms"
    wiring: Choice = "pre_norm"
    position: Choice = "rotary"
    embedding: Choice = "lookup"
    head: Choice = "tied"
    dropout: Choice = "independent"
    causal: bool = True  # True: a position sees itself and those before it; False: both sides
    pooling: Choice | None = None  # how a sequence becomes one vector, where the task needs that
    source: Shape | None = None  # of what cross-attention looks at
    shared_embedding: bool = False  # of a source: it reads its tokens by the table of what looks at it

    @property
    def slots(self) -> list[Slot]:
        """The sublayers from the input to the output."""
        return slots(self.pattern)

    @property
    def letters(self) -> str:
        """Of all sublayers."""
        return "".join(slot.letter for slot in self.slots)

    def part(self, letter: str) -> dict[str, Any]:
        """What a letter stands for, with every option; the kind of part is `kind_of(SUBLAYERS, name)`."""
        chosen = self.parts.get(letter) or USUAL.get(letter)
        if chosen is None:
            raise OptionError("model.pattern", self.pattern, f"a part for each letter; {letter!r} has none",
                              f"Say which: model.parts.{letter}=attention. Without that, "
                              f"{', '.join(USUAL)} have parts.")
        return resolved(chosen)

    def kind(self, letter: str) -> str:
        """The kind of part that a letter stands for: `parts/mixers`, `parts/feedforwards` or `parts/streams`."""
        return kind_of(SUBLAYERS, self.part(letter)["name"])

    @property
    def layer_names(self) -> tuple[str, ...]:
        """`0 attention`, `1 swiglu`, …: the number that watching uses, and the part."""
        return tuple(f"{n} {self.part(letter)['name']}" for n, letter in enumerate(self.letters))

    @property
    def heads(self) -> int:
        """Of the first attention, for position parts that keep something for each head."""
        found = [heads for letter in dict.fromkeys(self.letters) for heads in _heads(self.part(letter))]
        return found[0] if found else 1


def _heads(part: Mapping[str, Any]) -> list[int]:
    """Of a part, or of those inside it."""
    if "heads" in part:
        return [int(part["heads"])]
    return [heads for inside in part.values() if isinstance(inside, Mapping) for heads in _heads(inside)]


def resolved(choice: Choice) -> dict[str, Any]:
    """A sublayer's part with every option."""
    return resolve(SUBLAYERS, expanded(choice))


def expanded(choice: Choice) -> Choice:
    """An attention part is short for the mixer `attention` with it inside; other parts stay as they are."""
    given = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = given.get("name")
    if not has(ATTENTION, name) or has(MIXERS, name):
        return choice
    of_mixer = {key: given[key] for key in given if key in options(MIXERS, "attention")}
    return {**of_mixer, "name": "attention", "attend": {key: given[key] for key in given if key not in of_mixer}}
