"""Translations beside their references: BLEU and chrF as sacrebleu computes them, and the statistics behind them."""

from __future__ import annotations

import logging
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
        score = metric.corpus_score(list(hypotheses), columns, n_bootstrap=min(max(draws, 1), 1000))  # type: ignore[arg-type]
        found[name] = float(score.score)
        if draws > 1 and len(hypotheses) > 3:
            low, high = float(score._mean - score._ci), float(score._mean + score._ci)
            found["interval"][name] = [max(0.0, low), min(100.0, high)]
        found["signature" if name == "bleu" else "chrf_signature"] = metric.get_signature().format()
    return found
