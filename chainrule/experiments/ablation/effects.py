"""How much a variant differs from the base, for other units and for other seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.evaluation.significance import Difference, holm
from chainrule.evaluation.student import reach, two_sided
from chainrule.experiments.ablation.judges import Judge

LEVEL = 0.05
Tables = Mapping[int, np.ndarray]  # what each seed did on every unit


def effect(own: Tables, base: Tables, judge: Judge) -> Difference | None:
    """own − base over the seeds that both have; None if there is none."""
    seeds = sorted(own.keys() & base.keys())
    if not seeds:
        return None
    found = judge.gap([own[seed] for seed in seeds], [base[seed] for seed in seeds])
    return over_seeds(found, [judge.value(own[seed]) - judge.value(base[seed]) for seed in seeds], judge.count)


def over_seeds(found: Difference, of_seeds: Sequence[float], units: int) -> Difference:
    r"""A difference for other units, made one for other units and other seeds; with one seed it stays what it is.

    d̄ ± t_ν s,   s² = s_units² + s_seeds²,   s_seeds² = Σ (d_i − d̄)² / (S (S − 1))
    ν = s⁴ / (s_units⁴ / (U − 1) + s_seeds⁴ / (S − 1))
    Satterthwaite 1946, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2.
    d_i is the difference of two trainings with the same seed. What units and seeds share counts in both terms, so the
    interval is rather too wide.
    """
    d, count = np.asarray(of_seeds, np.float64), len(of_seeds)
    if count < 2 or not math.isfinite(found.error) or not np.isfinite(d).all():
        return found
    seeds2, units2 = float(d.var(ddof=1)) / count, found.error**2
    error = math.sqrt(seeds2 + units2)
    if error == 0:
        return found
    freedom = error**4 / (units2**2 / max(1, units - 1) + seeds2**2 / (count - 1))
    half, value = reach(freedom) * error, float(d.mean())
    return Difference(value, value - half, value + half, two_sided(value / error, freedom), error)


def corrected(found: Mapping[str, Difference | None], judge: Judge) -> dict[str, dict[str, Any] | None]:
    """Each variant's difference with p corrected for the number of variants (Holm), and what that means."""
    known = {name: each for name, each in found.items() if each is not None and math.isfinite(each.difference)}
    p_holm = dict(zip(known, holm([each.p_value for each in known.values()]), strict=True))
    return {name: _described(known[name], p_holm[name], judge) if name in known else None for name in found}


def _described(each: Difference, p: float, judge: Judge) -> dict[str, Any]:
    ends = math.isfinite(each.low) and math.isfinite(each.high)
    significant = p < LEVEL and ends
    better = (each.difference > 0) == judge.higher
    return {"difference": each.difference, "low": each.low if ends else None, "high": each.high if ends else None,
            "p_value": each.p_value, "p_holm": p, "significant": significant,
            "verdict": ("helps" if better else "hurts") if significant else "noise"}
