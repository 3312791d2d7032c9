"""`chainrule.score`: the log-probability of each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import UsageError
from chainrule.protocols import LanguageModel, ScoresUnits
from chainrule.runs import LoadedRun, opened

if TYPE_CHECKING:
    import numpy as np


def score(run: str | Path | LoadedRun, lines: Sequence[str]) -> np.ndarray:
    """(lines,): ln p of each line on its own, its end mark included; millions of lines are scored on all cores.

    Of a masked language model it is the pseudo-log-likelihood: each token is hidden once, and guessed from all others.
    """
    from chainrule.evaluation.score import line_log_probs

    if isinstance(lines, str):
        raise UsageError("score takes a list of lines, not one text: score(run, [line]).")
    loaded = opened(run)
    return line_log_probs(scoring(loaded), loaded.tokenizer, lines)


def scoring(run: LoadedRun) -> Any:
    """The model, if it gives tokens probabilities."""
    return run.model if isinstance(run.model, ScoresUnits) else run.offering(LanguageModel, "score")
