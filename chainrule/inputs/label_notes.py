"""What is said about labels that nothing can be learned or measured of."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from chainrule.text.corpora.finding import named

log = logging.getLogger("chainrule")


def say_single(single: Sequence[tuple[str, str]]) -> None:
    """Of training data: labels with one example, each with the file and line where that stands."""
    if single:
        (label, where), others = single[0], len(single) - 1
        also = f", and {others:,} other labels have one example each" if others > 1 else \
            ", and one other label has one too" if others else ""
        log.warning(f"{where}: the only example of the label {label!r}{also}. A label that is seen once can hardly be "
                    "learned: give more examples, or leave it out.")


def say_missing(name: str, missing: Sequence[str], labels: int) -> None:
    """Of test data: labels of the model that no example has."""
    if missing:
        these = "it is" if len(missing) == 1 else "these are"
        log.warning(f"{name}: no example of {len(missing):,} of the {labels:,} labels that were learned "
                    f"({named(missing, 3)}). How well {these} found is not measured.")


def say_unknown(where: str, label: str, count: int) -> None:
    """Of test data: labels that the model never learned; `where` and `label` are the first of them."""
    such = "This example counts" if count == 1 else f"{count:,} labels like that count"
    log.warning(f"{where}: the label {label!r} was not in the training data. {such} as wrong.")
