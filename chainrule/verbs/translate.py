"""`chainrule.translate`: the likeliest targets of sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.errors import OptionError, UsageError
from chainrule.protocols import Translator
from chainrule.runs import LoadedRun, opened


def translate(run: str | Path | LoadedRun, sources: Sequence[str | bytes], *, beams: int = 5, num: int = 1,
              max_tokens: int | None = None, length_penalty: float = 0.6, coverage_penalty: float = 0.0
              ) -> list[list[Any]]:
    """For each source its `num` best targets by beam search, each with `text`, `log_prob` and `score`.

    One beam is greedy. `length_penalty` above 0 favors longer targets, `coverage_penalty` those that look at all of
    the source; both as in Wu et al. 2016. An empty source has an empty target.
    """
    if isinstance(sources, str | bytes):
        raise UsageError("translate takes a list of texts, not one text: translate(run, [text]).")
    for name, value in (("beams", beams), ("num", num), ("max_tokens", max_tokens)):
        if value is not None and value < 1:
            raise OptionError(name, value, "at least 1")
    model = opened(run).offering(Translator, "translate")
    return model.translate(sources, beams=beams, num=num, max_tokens=max_tokens, length_penalty=length_penalty,
                           coverage_penalty=coverage_penalty)
