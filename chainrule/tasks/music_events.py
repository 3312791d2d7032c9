"""Music as events: which keys are struck and let go, and the time between, each predicted from what came before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inputs.music import PITCHES, Piece
from chainrule.inputs.music_events import WORDS, events_of, starts_of_steps
from chainrule.protocols import LanguageModel
from chainrule.recipe.registry import build, part
from chainrule.task_protocols import Small
from chainrule.tasks._music import OnMusic, check_transposition, shifts_of
from chainrule.tasks._text import Say, Text, TextBatches, TextRead, text_batches
from chainrule.tasks.language import Language, next_tokens

if TYPE_CHECKING:
    from chainrule.evaluation.options import Measuring
    from chainrule.inputs.pieces import Pieces
    from chainrule.jobs import Job
    from chainrule.text.tokenizers.words import WordTokenizer

TOKENIZER = "words"


@part
class MusicEvents(OnMusic, Language):
    r"""Every event of a piece is predicted from those before it: keys struck and let go, and the time between.

    −1/N Σ_n ln p(e_n | e_<n),   e one of on0 … on127, off0 … off127, t1 … t16 and the end

    Oore et al. 2018, arXiv:1808.03715; Huang et al. 2018, arXiv:1809.04281. It is a language model of the notation of
    `inputs.music_events`. `step` is how MIDI files are cut; JSON has its own steps. Training reads each piece in all
    keys up to `transpose` semitones away.
    """

    ability = LanguageModel
    kind = "model of music"
    uses = ("generate {run} --max-tokens 400 --out song.mid", "evaluate {run} --data FILE",
            "inspect {run} FILE --out roll.svg")
    view = "pieces"
    caution = "It continues as its training pieces go on, and may give some of their passages back as they are."
    causal = True
    loss_per = "event"

    def __init__(self, *, step: Literal["quarter", "8th", "16th"] = "quarter", transpose: int = 0):
        self.step, self.transpose = step, check_transposition(transpose)

    def small(self, folder: Path) -> Small:
        return replace(super().small(folder), recipe={"tokenizer": TOKENIZER})

    def read(self, job: Job) -> TextRead:
        from chainrule.inputs.pieces import with_parts
        from chainrule.text.encoded import encode

        given = job.recipe.tokenizer
        if given is None or given["name"] != TOKENIZER:
            raise OptionError("tokenizer", None if given is None else given["name"], TOKENIZER,
                              "Events are words, and all of them are known.")
        corpus, valid = with_parts(job.corpus, job.valid)
        if not corpus.pieces:
            raise DataError(f"{corpus.name}: no pieces to train on.")
        tokenizer = vocabulary()
        train, held = (None if each is None else encode(each, tokenizer, job.recipe.text)
                       for each in (self._in_all_keys(corpus), valid))
        assert train is not None
        return TextRead(Text(train.ids), None if held is None else Text(held.ids), tokenizer.start, tokenizer.end,
                        tokenizer)

    def _in_all_keys(self, corpus: Pieces) -> Pieces:
        if not self.transpose:
            return corpus
        moved = [piece.transposed(by) for piece in corpus.pieces for by in shifts_of(piece, self.transpose, 0, PITCHES)]
        return corpus.only(moved, f"{corpus.name} (transposed)")

    def training_data(self, read: TextRead, network: Any, plan: Any, say: Say) -> TextBatches:
        return text_batches(read, network, plan, say, partial(next_tokens, start=read.start, end=read.end),
                            predicts_text=False)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        """`frame_nll` is in nats of all events but the end, for each time step; bits are for each event, the end too.
        """
        from chainrule.evaluation.ranking import Entry, intervals

        pieces = self.open(data, run.recipe).pieces
        logs, measure = self.by_event(run, pieces), build("evaluation/measures", "frame_nll")
        table = _table(logs, pieces)
        events, nats = sum(map(len, logs)), -float(sum(own.sum() for own in logs))
        found = {"pieces": len(pieces), "frames": int(table[:, 1].sum()), "events": events,
                 "bits_per_event": nats / events / math.log(2), "perplexity": math.exp(nats / events),
                 "frame_nll": measure.value(table)}
        if not how.bootstrap:
            return found
        [interval] = intervals([Entry("", (table,))], measure, draws=min(how.bootstrap, 2_000), seed=how.seed)
        return found | {"interval": {} if interval is None else {"frame_nll": interval}}

    def by_event(self, run: Any, pieces: Sequence[Piece]) -> list[np.ndarray]:
        """ln p of each event of each piece, the end among them."""
        from chainrule.evaluation.scoring import token_log_probs

        model, tokenizer = run.offering(LanguageModel, "evaluate"), run.tokenizer
        ids = [tokenizer.encode_lines([events_of(piece)]) for piece in pieces]
        ends = np.cumsum([len(own) for own in ids])
        log_p = token_log_probs(model, np.concatenate(ids), ends, pad=tokenizer.end)
        return np.split(log_p, ends[:-1])

    def answered(self, run: Any, pieces: Sequence[Piece]) -> np.ndarray:
        """(R, 2): nats and frames of each piece."""
        return _table(self.by_event(run, pieces), pieces)

    def by_frame(self, run: Any, pieces: Sequence[Piece]) -> list[np.ndarray]:
        """(T,) of each piece: −ln p of the events of every step; a shift counts where it begins."""
        found = []
        for piece, logs in zip(pieces, self.by_event(run, pieces), strict=True):
            steps = starts_of_steps(events_of(piece).split())
            found.append(np.bincount(steps, -logs[:-1], minlength=piece.steps))
        return found

    def probabilities(self, run: Any, piece: Piece) -> np.ndarray | None:
        """A model of events has none for each key by itself."""
        return None


def vocabulary() -> WordTokenizer:
    """Every event there is, whatever the training pieces have."""
    from chainrule.text.tokenizers.words import WordTokenizer

    return WordTokenizer([b"<unk>", b"<s>", b"</s>", *(word.encode() for word in WORDS)])


def _table(logs: Sequence[np.ndarray], pieces: Sequence[Piece]) -> np.ndarray:
    """(R, 2): nats without the end, and frames."""
    return np.array([(-own[:-1].sum(), piece.steps) for own, piece in zip(logs, pieces, strict=True)])
