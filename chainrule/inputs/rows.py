"""Examples taken by their number: to train on, to validate on, and folds of a cross-validation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from chainrule.errors import OptionError
from chainrule.text.split import FINEST, Fold, Selection


def parted(corpus: Any, fraction: float, seed: int) -> tuple[Selection, Selection]:
    """Examples in two by their number: one of every 1/fraction neighbors is held out."""
    share = Fraction(fraction).limit_denominator(FINEST)
    if not 0 < share < 1:
        raise OptionError("split.valid", fraction, "a number between 0 and 1", "0.1 sets a tenth aside.")
    train, held = (Selection(corpus, Fold(share, seed, part), 1) for part in ("train", "valid"))
    return train, held


@dataclass(frozen=True)
class OneOfFolds:
    """The k-th of `count` folds, or all others: of every `count` neighbors each fold has one, in random order."""

    k: int  # from 0
    count: int
    seed: int
    part: Literal["train", "valid"]

    def takes(self, number: int) -> bool:
        group, place = divmod(number, self.count)
        order = sorted(range(self.count), key=lambda each: hashlib.blake2b(
            f"{self.seed} {group} {each}".encode(), digest_size=8).digest())
        return (order.index(place) == self.k) == (self.part == "valid")

    def __str__(self) -> str:
        return f"fold {self.k + 1} of {self.count}" if self.part == "valid" else f"without fold {self.k + 1} of " \
            f"{self.count}"


def fold(corpus: Any, k: int, count: int, seed: int, passage: int = 1) -> tuple[Selection, Selection]:
    """All examples but those of the k-th fold, and those; every example is in one fold. Of a text, passages are taken.
    """
    train, held = (Selection(corpus, OneOfFolds(k, count, seed, part), passage) for part in ("train", "valid"))
    return train, held
