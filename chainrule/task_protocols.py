"""The protocols of tasks: what a run can do, what a network learns, and what it is trained on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from chainrule.jobs import Job


@dataclass(frozen=True)
class Small:
    """Data of a few lines, and what a recipe says to learn from it: what contracts try a task with."""

    data: Any
    target: Any = None
    recipe: Mapping[str, Any] = field(default_factory=dict)


class Task(Protocol):
    """What a finished run can do, how it is evaluated and how it is described."""

    ability: ClassVar[type]  # a protocol above
    kind: ClassVar[str]  # in a sentence: "language model"
    uses: tuple[str, ...]  # commands for the run, which {run} stands for
    caution: ClassVar[str]  # the last line of its model card
    reads_text: ClassVar[bool] = True  # whether text.… can be changed when it is measured
    view: str = "text"  # what `chainrule inspect` shows of its runs: the module of cli/terminal with this name

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        """What `--data` names: a text corpus, or something else with `name`, `files`, `size` and `fingerprint()`.

        What was opened before is taken as it is. `target` is what `--target` names, of a task with such.
        """
        ...

    def split(self, corpus: Any, fraction: float, seed: int) -> tuple[Any, Any]:
        """What was opened in two: the larger part to train on, a fraction to validate on."""
        ...

    def fold(self, corpus: Any, k: int, count: int, seed: int) -> tuple[Any, Any]:
        """All but the k-th of so many folds of what was opened, and that fold; k from 0."""
        ...

    @abstractmethod
    def evaluate(self, run: Any, data: Any, how: Any) -> dict[str, Any]:
        """What `chainrule evaluate` prints; `how` is an `evaluation.options.Measuring`."""
        ...


class LearnedTask(Task, Protocol):
    """A task that a network learns by gradient descent: what it reads, its loss, its measures."""

    causal: ClassVar[bool]  # how the network reads: from left to right, or both ways
    loss_per: str  # what the loss is a mean over: token, text, image

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Any:
        """The `models.sizes.Sizes` of a network over so many tokens; without facts, as far as one can say."""
        ...

    def load_known(self, folder: Path | None, tokenizer: Any) -> Any:
        """What a run's folder says about its data: a `tasks._known.Known`. Without a folder, as far as one can say."""
        ...

    def small(self, folder: Path) -> Small:
        """Writes data of a few lines into a folder, for the contract of tasks."""
        ...

    @abstractmethod
    def read(self, job: Job) -> Any:
        """What to train on and to validate on, with `known` and the number of `tokens` of an epoch."""
        ...

    @abstractmethod
    def training_data(self, read: Any, network: Any, plan: Any, say: Any) -> TrainingData:
        """The same in batches."""
        ...

    @abstractmethod
    def loss(self, network: Any, batch: Any, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        """The sum of the losses of a batch's targets, their number, and the state after it where one is carried."""
        ...

    @abstractmethod
    def validate(self, network: Any, batches: Iterator[Any]) -> dict[str, float]:
        """`loss`, the smaller the better, and other measures; {} where there are no batches."""
        ...

    def rank(self, found: Mapping[str, float]) -> float:
        """By what the best evaluation is chosen, the smaller the better: the loss, or a measure of what matters."""
        ...

    def finished(self, network: Any, read: Any) -> Any:
        """What is known when training is over: `read.known`, and what was found out about the network's answers."""
        ...

    def samples(self, network: Any, known: Any) -> list[str]:
        """Texts that the network generates, to show its progress."""
        ...

    @abstractmethod
    def model(self, network: Any, known: Any) -> Any:
        """The network as the model of a finished run."""
        ...


@runtime_checkable
class WritesFiles(Protocol):
    """A task whose runs generate something that is no text: music, pictures. `generate --out FILE` writes it.

    What is generated has a text of its own, such as the events of music; prompts are read from files into that text.
    """

    def check_file(self, path: Path) -> None:
        """Raises a UsageError where such a file cannot be written, before anything is generated."""
        ...

    def read_prompt(self, run: Any, given: str, length: int | None) -> str:
        """What `--prompt` names, or its first `length` steps, as the text that a run goes on from.

        A prompt that is such a text already stays as it is.
        """
        ...

    def write_generated(self, run: Any, prompt: str, generated: Any, path: Path) -> None:
        """Writes a prompt and its continuation, a `generation.generate.Generated`, to a file."""
        ...


@runtime_checkable
class WritesTogether(Protocol):
    """One of these whose samples belong into one file: pictures in a grid."""

    def write_together(self, run: Any, generated: Sequence[Any], path: Path) -> None:
        """Writes all samples to one file."""
        ...


@runtime_checkable
class Generates(Protocol):
    """A task whose runs generate without being language models."""

    def generated(self, run: Any, prompt: str, *, num: int, max_tokens: int, sampling: Any) -> list[Any]:
        """`num` continuations as `generation.generate.Generated`; `sampling` is a `verbs.generate.Sampling`."""
        ...


@runtime_checkable
class MusicModel(Protocol):
    """Probabilities of piano rolls, frame by frame, from which music can be continued."""

    def scores_of(self, rolls: Sequence[np.ndarray]) -> list[np.ndarray]:
        """(T, 88) of each roll (T, 88): ln p / (1 − p) of every key, given the frames before."""
        ...

    def continued(self, begin: np.ndarray, steps: int, seeds: Sequence[int | None], *, temperature: float = ...
                  ) -> tuple[np.ndarray, np.ndarray]:
        """(N, steps, 88) that follow a roll, one for each seed, and ln p (N,) of each."""
        ...


@runtime_checkable
class OnPieces(Protocol):
    """A task on music, whose runs say how probable each time step of a piece was: what `inspect` draws."""

    step: str  # quarter, 8th or 16th

    def by_frame(self, run: Any, pieces: Sequence[Any]) -> list[Any]:
        """(T,) of each piece: −ln p of every step, given those before it."""
        ...

    def probabilities(self, run: Any, piece: Any) -> Any:
        """(T, 88): p of each key at every step, given those before; None where keys have none by themselves."""
        ...


class TrainingData(Protocol):
    """What a training reads, batch by batch: a function of the seed and the step alone."""

    rows: int  # of a batch
    context: int  # tokens of a row
    tokens: int  # of the text
    tokens_per_step: int
    steps_per_epoch: float
    evaluation_tokens: int  # of the validation text, that an evaluation measures; 0 without one
    carries: bool  # whether a state is carried from one batch to the next
    fixed: bool  # whether all batches have the same shape, so that compiling the network pays
    known: Any  # a `tasks._known.Known`, or None where only ids are

    def batch(self, step: int) -> Any:
        """What a step reads, as NumPy arrays."""
        ...

    def validation(self, rows: int) -> Iterator[Any]:
        """The validation text in batches of so many rows."""
        ...

    def measured(self, loss: float) -> Mapping[str, float]:
        """Further metrics derived from a training loss, such as bits per byte."""
        ...

    def measured_in_validation(self, loss: float) -> Mapping[str, float]:
        """The same of a validation loss."""
        ...
