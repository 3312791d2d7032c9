"""Piano rolls: the keys that sound at each time step are predicted from the steps before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inputs.music import KEYS, LOWEST, Piece, piece_of_roll, roll_of
from chainrule.models.sizes import Sizes
from chainrule.protocols import MusicModel
from chainrule.recipe.registry import build, find, part
from chainrule.task_protocols import Small
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._examples import STREAM
from chainrule.tasks._known import Known
from chainrule.tasks._music import OnMusic, check_transposition, shifts_of
from chainrule.tasks._order import generator
from chainrule.tasks._rows import Examples, RowBatches

if TYPE_CHECKING:
    from chainrule.evaluation.options import Measuring
    from chainrule.generation.generate import Generated
    from chainrule.jobs import Job
    from chainrule.models.rolls import RollModel


@part
class PianoRolls(OnMusic):
    r"""The keys that sound at each time step are predicted from the steps before it, each of the 88 by itself.

    −1/T Σ_t Σ_k [y_tk ln p_tk + (1 − y_tk) ln(1 − p_tk)]

    Boulanger-Lewandowski, Bengio & Vincent 2012, arXiv:1206.6392. `step` is how MIDI files are cut; JSON has its own
    steps. In training each piece is moved by up to `transpose` semitones at random.
    """

    ability = MusicModel
    kind = "model of music"
    uses = ("generate {run} --out song.mid", "evaluate {run} --data FILE", "inspect {run} FILE --out roll.svg")
    view = "pieces"
    caution = "It continues as its training pieces go on, and may give some of their passages back as they are."
    causal = True
    loss_per = "frame"

    def __init__(self, *, step: Literal["quarter", "8th", "16th"] = "quarter", transpose: int = 0):
        self.step, self.transpose = step, check_transposition(transpose)

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return Sizes(0, KEYS, (KEYS + 1,))

    def small(self, folder: Path) -> Small:
        return replace(super().small(folder), recipe={"tokenizer": None, "model": {
            "pattern": "r", "position": "none", "embedding": "frames", "head": "independent"}})

    def read(self, job: Job) -> RollsRead:
        from chainrule.inputs.pieces import with_parts

        head = job.recipe.model.head["name"]
        if find("parts/heads", head).exclusive:  # type: ignore[attr-defined]
            raise OptionError("model.head", head, "independent", "Several keys sound at a time.")
        corpus, valid = with_parts(job.corpus, job.valid)
        if not corpus.pieces:
            raise DataError(f"{corpus.name}: no pieces to train on.")
        known, most = Known(None, self.sizes(0)), job.recipe.model.context
        return RollsRead(known, _stretches(corpus.pieces, most, self.transpose),
                         None if valid is None else _stretches(valid.pieces, most, 0))

    def training_data(self, read: RollsRead, network: Any, plan: Any, say: Any) -> RowBatches:
        train, valid = (None if each is None else _examples(each, plan.seed) for each in (read.train, read.valid))
        assert train is not None
        return RowBatches(read.known, train, valid, plan)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, _ = network(batch.inputs)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, count, right, either = 0.0, 0, 0, 0
        for batch in batches:
            hidden, _ = network(batch.inputs)
            total, count = total + float(network.head.loss(hidden, batch.targets)), count + batch.count
            said, real, sounds = network.head.scores(hidden) > 0, batch.targets != IGNORED, batch.targets == 1
            right += int((said & sounds).sum())
            either += int(((said | sounds) & real).sum())
        return {"loss": total / count, "frame_accuracy": right / max(either, 1)} if count else {}

    def model(self, network: Any, known: Known) -> RollModel:
        from chainrule.models.rolls import RollModel

        return RollModel(network, known)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        """`frame_nll` is over all frames; without the first of each piece as in Bai et al. 2018, arXiv:1803.01271."""
        from chainrule.evaluation.ranking import Entry, intervals

        pieces = self.open(data, run.recipe).pieces
        scores, rolls = self._scored(run, pieces)
        nats = [_nats(score, roll) for score, roll in zip(scores, rolls, strict=True)]
        tables = {"frame_nll": np.array([(own.sum(), len(own)) for own in nats]),
                  "frame_accuracy": np.array([_hits(score, roll) for score, roll in zip(scores, rolls, strict=True)])}
        measures = {name: build("evaluation/measures", name) for name in tables}
        later = sum(len(own) - 1 for own in nats)
        found = {"pieces": len(pieces), "frames": sum(map(len, nats)),
                 **{name: measures[name].value(table) for name, table in tables.items()},
                 "frame_nll_after_first": float(sum(own[1:].sum() for own in nats) / later) if later else None}
        if not how.bootstrap:
            return found
        draws = min(how.bootstrap, 2_000)
        sure = {name: intervals([Entry("", (table,))], measures[name], draws=draws, seed=how.seed)[0]
                for name, table in tables.items()}
        return found | {"interval": {name: each for name, each in sure.items() if each is not None}}

    def _scored(self, run: Any, pieces: Sequence[Piece]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        rolls = [roll_of(piece) for piece in pieces]
        return run.offering(MusicModel, "evaluate").scores_of(rolls), rolls

    def answered(self, run: Any, pieces: Sequence[Piece]) -> np.ndarray:
        """(R, 2): nats and frames of each piece."""
        return np.array([(own.sum(), len(own)) for own in self.by_frame(run, pieces)])

    def by_frame(self, run: Any, pieces: Sequence[Piece]) -> list[np.ndarray]:
        """(T,) of each piece: −ln p of every frame, given those before it."""
        return [_nats(score, roll) for score, roll in zip(*self._scored(run, pieces), strict=True)]

    def probabilities(self, run: Any, piece: Piece) -> np.ndarray | None:
        """(T, 88): p of each key, given the frames before."""
        [score], _ = self._scored(run, [piece])
        return 1 / (1 + np.exp(-score))

    def generated(self, run: Any, prompt: str, *, num: int, max_tokens: int, sampling: Any) -> list[Generated]:
        """`max_tokens` steps that follow the prompt; the text is what happens in them, as events."""
        from chainrule.generation.generate import Generated, check
        from chainrule.inputs.music_events import events_of, piece_of_events

        for name in ("beams", "top_k", "top_p", "min_p", "repetition_penalty", "length_penalty"):
            if getattr(sampling, name) is not None:
                said = f"--{name.replace('_', '-')} = {getattr(sampling, name)}"
                raise UsageError(f"{said} is for models that choose one token at a time; every key of a piano roll is "
                                 "drawn by itself. Try --temperature.")
        check(num, (), 1 if sampling.temperature == 0 else None)
        begun = piece_of_events(prompt, "--prompt")
        seeds = [(sampling.seed or 0) * 1_000_003 + n for n in range(num)]
        heat = 1.0 if sampling.temperature is None else sampling.temperature
        if heat < 0:
            raise OptionError("--temperature", heat, "at least 0")
        model = run.offering(MusicModel, "generate")
        rolls, log_p = model.continued(roll_of(begun), max_tokens, seeds, temperature=heat)
        found = []
        for roll, own in zip(rolls, log_p, strict=True):
            piece = piece_of_roll(np.concatenate([roll_of(begun), roll]))
            text = events_of(piece, begun.steps)
            found.append(Generated(f" {text}" if prompt else text, (), "length", float(own)))
        return found


def _nats(score: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """(T,)."""
    from chainrule.models.rolls import nats_of

    return nats_of(score, roll).sum(-1)


def _hits(score: np.ndarray, roll: np.ndarray) -> tuple[int, int]:
    said, sounds = score > 0, roll > 0
    return int((said & sounds).sum()), int((said | sounds).sum())


@dataclass(frozen=True)
class Stretch:
    """At most so many frames of a piece, after a frame before them; by how many semitones it may be moved."""

    inputs: np.ndarray  # (T, 89)
    roll: np.ndarray  # (T, 88)
    shifts: range


@dataclass(frozen=True)
class RollsRead:
    """Pieces to train and to validate on, none longer than the context."""

    known: Known
    train: list[Stretch]
    valid: list[Stretch] | None

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return sum(len(each.roll) for each in self.train)


@dataclass(frozen=True)
class RollBatch(Batch):
    """A batch whose targets are counted by the frame, each of which has many."""

    def rows(self, begin: int, end: int) -> Batch:
        return replace(super().rows(begin, end), count=int(self.lengths[begin:end].sum()))


def _stretches(pieces: Sequence[Piece], most: int, transpose: int) -> list[Stretch]:
    from chainrule.models.rolls import inputs_of

    found = []
    for piece in pieces:
        roll, shifts = roll_of(piece), shifts_of(piece, transpose, LOWEST, LOWEST + KEYS)
        inputs = inputs_of(roll)
        found += [Stretch(inputs[begin:begin + most], roll[begin:begin + most], shifts)
                  for begin in range(0, len(roll), most)]
    return found


def _examples(stretches: Sequence[Stretch], seed: int) -> Examples:
    """Padded at the end; in training, each moved by a number of semitones that is drawn for it."""
    def collate(numbers: np.ndarray, batch: int) -> Batch:
        own = [stretches[n] for n in numbers]
        lengths = np.array([len(each.roll) for each in own], np.int64)
        inputs = np.zeros((len(own), lengths.max(), KEYS + 1), np.float32)
        targets = np.full((len(own), lengths.max(), KEYS), IGNORED, np.int64)
        draw = generator(seed ^ STREAM, batch) if batch >= 0 else None
        for row, each in enumerate(own):
            by = 0 if draw is None or len(each.shifts) < 2 else int(draw.choice(each.shifts))
            inputs[row, :lengths[row]] = each.inputs
            inputs[row, :lengths[row], :KEYS] = np.roll(each.inputs[:, :KEYS], by, axis=1)
            targets[row, :lengths[row]] = np.roll(each.roll, by, axis=1)
        return RollBatch(inputs, targets, int(lengths.sum()), lengths=lengths)

    return Examples(np.array([len(each.roll) for each in stretches], np.int64), collate)
