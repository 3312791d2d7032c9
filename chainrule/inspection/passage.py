"""The passage to inspect: the first tokens of a text, unit by unit, and how a token is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.errors import OptionError
from chainrule.runs import LoadedRun
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.units import stretches, unit_of

STRETCH = 1 << 14  # bytes of text tokenized at a time: no more of a long text is read than is shown


@dataclass(frozen=True)
class Passage:
    """Tokens of a text with the end mark of each unit that was read whole; `cut` if the text continues."""

    ids: np.ndarray  # int32 (T,)
    ends: tuple[int, ...]  # one past each unit's last token
    unit: str  # line or document
    cut: bool

    def units(self) -> list[np.ndarray]:
        """The ids of each unit."""
        return np.split(self.ids, self.ends[:-1])

    @property
    def longest(self) -> int:
        """The number of the longest unit (the first of equals), which is shown in detail."""
        return int(np.argmax(np.diff(self.ends, prepend=0)))


def passage(run: LoadedRun, corpus: Corpus, options: TextOptions, *, tokens: int) -> Passage:
    """The first `tokens` tokens of a corpus, as this run reads it."""
    if tokens < 1:
        raise OptionError("tokens", tokens, "at least 1")
    tokenizer = run.tokenizer
    unit = unit_of(options, keeps_space=tokenizer.keeps_space)
    pieces: list[np.ndarray] = []
    for ids in tokenizer.stream(stretches(corpus, unit, options, STRETCH), corpus, options):
        pieces.append(ids)
        if sum(map(len, pieces)) > tokens:
            break
    read = np.concatenate(pieces).astype(np.int32)
    kept = read[:tokens]
    ends = (np.flatnonzero(kept == tokenizer.end) + 1).tolist()
    if not ends or ends[-1] < len(kept):
        ends.append(len(kept))
    return Passage(kept, tuple(ends), unit, cut=len(read) > tokens)
