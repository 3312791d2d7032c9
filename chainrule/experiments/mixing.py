"""The mixture of all models as a row, measured on text that its weights were not learned on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.counting.mixture import fit_weights, mixed
from chainrule.evaluation.evaluate import BIT
from chainrule.experiments.losses import Losses, Units, bits
from chainrule.experiments.standings import Standing, empty_row

NAME = "mixture of all"


def mixture(members: Sequence[Standing], units: Units) -> tuple[Standing | None, str | None]:
    """The row, or a sentence why there is none; with several seeds the mean over mixtures, one for each seed.

    Cross-fitting: the weights for every second unit are learned on the others, and the other way round, so that no
    token is predicted with weights that have seen it.
    """
    names = [each.row["name"] for each in members]
    if len(members) < 2:
        return None, None
    if len({facts["tokenizer"] for each in members for facts in each.outcomes}) > 1:
        return None, "there is no row for the mixture of all models: they have different tokens."
    if len(units.bytes) < 2:
        return None, "there is no row for the mixture: the held-out text is too short to learn its weights on a part."
    count = max(len(each.losses) for each in members)
    found = [_of_one_seed([each.losses[seed % len(each.losses)] for each in members], units) for seed in range(count)]
    losses = tuple(own for own, _ in found)
    rates = [float(own.bits.sum() / units.bytes.sum()) for own in losses]
    weights = np.asarray([own for _, own in found]).mean(axis=0)
    row = empty_row(NAME, "mixture", "mixture") | {
        "bits_per_byte": float(np.mean(rates)), "spread": float(np.std(rates, ddof=1)) if count > 1 else None,
        "weights": dict(zip(names, np.round(weights, 4).tolist(), strict=True)),
        "parameters": _sum(members, "parameters"), "disk_bytes": _sum(members, "disk_bytes")}
    return Standing(row, losses=losses, unit_bits=np.mean([own.between(units.places) for own in losses], axis=0)), None


def _of_one_seed(members: Sequence[Losses], units: Units) -> tuple[Losses, np.ndarray]:
    """The mixture's losses on each token, and the weights of its members."""
    ends = members[0].ends
    fold_T = (np.searchsorted(units.places, ends, side="left") - 1) % 2
    mixed_T, weights = cross_fitted(np.stack([-each.bits * BIT for each in members]), fold_T)
    return Losses(ends, bits(mixed_T)), weights


def cross_fitted(log_p_MT: np.ndarray, fold_T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(T,): ln p of each token under weights learned on the other fold; and the mean of the two folds' weights."""
    mixed_T, both = np.empty(log_p_MT.shape[1]), []
    for fold in (0, 1):
        here, other = fold_T == fold, fold_T != fold
        weights = fit_weights(log_p_MT[:, other])
        mixed_T[here] = mixed(list(log_p_MT[:, here]), weights.tolist())
        both.append(weights)
    return mixed_T, np.mean(both, axis=0)


def _sum(members: Sequence[Standing], key: str) -> Any:
    return sum(each.row[key] or 0 for each in members)
