"""Translations beside their references: BLEU and chrF as sacrebleu computes them, and the statistics behind them."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from chainrule.errors import UsageError

log = logging.getLogger("chainrule")


def check_sacrebleu() -> None:
    """BLEU and chrF are sacrebleu's own."""
    if find_spec("sacrebleu") is None:
        raise UsageError("BLEU needs sacrebleu, which is not installed. Try: pip install 'chainrule[translation]'")


def bleu_table(hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenize: str) -> np.ndarray:
    """(sentences, 10): what BLEU is computed from, sentence by sentence."""
    check_sacrebleu()
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True, tokenize=tokenize)
    scores = [metric.sentence_score(text, list(own)) for text, own in zip(hypotheses, references, strict=True)]
    return np.array([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in scores], np.float64)


def _bootstrapped(metric: Any, hypotheses: list[str], columns: Any, draws: int) -> tuple[float, float]:
    """Mean and half of the 95 % interval of sacrebleu's resamples, as its `corpus_score` has them.

    That one fails where some resamples score 0 and others do not, which it keeps as numbers of different types.
    """
    from sacrebleu.significance import _bootstrap_resample

    metric.n_bootstrap = draws
    metric.seed, scores = _bootstrap_resample(metric._extract_corpus_statistics(hypotheses, columns), metric, draws)
    values = sorted(float(each.score) for each in scores)
    out = len(values) // 40
    return statistics.fmean(values), 0.5 * (values[-1 - out] - values[out])


def translation_figures(hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenize: str, draws: int
                        ) -> dict[str, Any]:
    """Corpus BLEU and chrF with their signatures; sacrebleu's bootstrap gives the intervals."""
    check_sacrebleu()
    from sacrebleu.metrics import BLEU, CHRF

    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it would advise about options that are not ours
    most = max(map(len, references))
    columns = [[own[n] if n < len(own) else None for own in references] for n in range(most)]
    found: dict[str, Any] = {"interval": {}}
    for name, metric in (("bleu", BLEU(tokenize=tokenize)), ("chrf", CHRF())):
        found[name] = float(metric.corpus_score(list(hypotheses), columns).score)  # type: ignore[arg-type]
        if draws > 1:
            middle, half = _bootstrapped(metric, list(hypotheses), columns, min(draws, 1000))
            if len(hypotheses) > 3:
                found["interval"][name] = [max(0.0, middle - half), min(100.0, middle + half)]
        found["signature" if name == "bleu" else "chrf_signature"] = metric.get_signature().format()
    return found
