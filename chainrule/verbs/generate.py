"""`chainrule.generate`: texts that continue a prompt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.protocols import LanguageModel
from chainrule.runs import LoadedRun, opened

if TYPE_CHECKING:
    from chainrule.generation.generate import Generated

log = logging.getLogger("chainrule")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How tokens are chosen: at random from a reshaped distribution, greedily (temperature 0), or by beam search."""

    seed: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    beams: int | None = None
    length_penalty: float | None = None

    def strategy(self) -> dict[str, Any]:
        """The one that the options ask for; options that then do nothing are named."""
        if self.beams is None and self.length_penalty is not None:
            log.info("the length penalty does nothing without beams.")
        if (self.beams is not None or self.temperature == 0) and self.seed is not None:
            log.info("the seed does nothing here: nothing is drawn at random.")
        if self.beams is not None:
            penalty = {} if self.length_penalty is None else {"length_penalty": self.length_penalty}
            return {"name": "beam", "beams": self.beams, **penalty}
        return {"name": "greedy"} if self.temperature == 0 else {"name": "sample", "seed": self.seed or 0}

    def filters(self) -> list[dict[str, Any]]:
        """What reshapes the distribution, in the order in which it acts."""
        wanted = (("repetition_penalty", "penalty", self.repetition_penalty),
                  ("temperature", "temperature", self.temperature or None),
                  ("top_k", "k", self.top_k), ("top_p", "p", self.top_p), ("min_p", "share", self.min_p))
        return [{"name": name, option: value} for name, option, value in wanted if value is not None]


def generate(run: str | Path | LoadedRun, prompt: str = "", *, num: int = 1, max_tokens: int = 100,
             stop: Sequence[str] = (), sampling: Sampling | None = None) -> list[Generated]:
    """Texts that continue a prompt, e.g. `generate(run, "the", sampling=Sampling(temperature=0.8, seed=1))`."""
    from chainrule.generation.generate import generate as write
    from chainrule.text.tokenizer import name_unseen_words

    if isinstance(stop, str):
        stop = [stop]
    how = sampling or Sampling()
    strategy, filters = how.strategy(), how.filters()
    loaded = opened(run, to_write=True)
    model = loaded.offering(LanguageModel, "generate")
    name_unseen_words(loaded.tokenizer, prompt)
    return write(model, loaded.tokenizer, prompt, num=num, max_tokens=max_tokens, strategy=strategy,
                 filters=filters, stop=stop)
