"""Learning curves of variants: the mean over seeds, the loss early on, and what is gained at equal FLOPs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from chainrule.evaluation.evaluate import BIT
from chainrule.training.plan import Budget

AXES = ("tokens", "flops", "seconds")
EARLY = 1 / 8  # of the budget
Curve = Sequence[Mapping[str, float]]  # points with `loss` and what had been spent
BYTES, TOKENS, TRAINING = "bits/byte", "bits/token", "training loss"  # what a curve may be of


def seed_curve(run: Path, of: str) -> list[dict[str, float]]:
    """The points of one training: held-out loss of language models, training loss of others; [] without steps."""
    from chainrule.training.curve import curve

    key, unit = {BYTES: ("valid_bits_per_byte", 1.0), TOKENS: ("valid_loss", 1 / BIT), TRAINING: ("loss", 1.0)}[of]
    return [{**{axis: float(point.get(axis) or 0.0) for axis in AXES}, "loss": point[key] * unit}
            for point in curve(run) if point.get(key) is not None]


def mean_curve(curves: Sequence[Curve], kind: str) -> list[dict[str, float]]:
    """The mean over seeds at the places of the first, as far as all of them reach; places are along the budget."""
    known = [each for each in curves if each]
    if not known:
        return []
    last = min(each[-1][kind] for each in known)
    places = [point[kind] for point in known[0] if point[kind] <= last] or [last]
    if places[-1] < last:
        places.append(last)
    return [{**{key: float(np.mean([_at(each, kind, place, key) for each in known])) for key in (*AXES, "loss")}}
            for place in places]


def early_loss(curves: Sequence[Curve], budget: Budget) -> float | None:
    """The mean over seeds of the curve at an eighth of the budget, between the two points around it.

    Where the first point comes later, as with few steps, it is taken if it lies in the first quarter of the budget.
    """
    place = EARLY * budget.amount
    known = [each for each in curves if each and each[0][budget.kind] <= 2 * place]
    return float(np.mean([_at(each, budget.kind, place, "loss") for each in known])) if known else None


def gain_at_equal_flops(own: Curve, base: Curve) -> float | None:
    """How far the curve lies below the base's where both have spent the same FLOPs, as many as both have spent."""
    if not own or not base:
        return None
    place = min(own[-1]["flops"], base[-1]["flops"])
    if place <= max(own[0]["flops"], base[0]["flops"]):
        return None
    return _at(base, "flops", place, "loss") - _at(own, "flops", place, "loss")


def _at(curve: Curve, kind: str, place: float, key: str) -> float:
    return float(np.interp(place, [point[kind] for point in curve], [point[key] for point in curve]))
