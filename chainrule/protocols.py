"""The protocols: what models, families, tasks and tokenizers can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from chainrule.errors import UsageError
from chainrule.tagger_protocols import Tagger as Tagger
from chainrule.task_protocols import MusicModel as MusicModel

if TYPE_CHECKING:
    from chainrule.jobs import Job, Trained
    from chainrule.starting import Start

Array = Any  # a NumPy array or a torch tensor; code above the families uses only what the array API has
State = TypeVar("State")


@runtime_checkable
class LanguageModel(Protocol[State]):
    """p(w₁…w_T) = Π_t p(w_t | w_<t), one token at a time or all at once.

    `start` has read only <s>. `advance` may consume the state it is given; `pick` gives independent copies. Ids and
    rows may be NumPy arrays for every model; what it gives are arrays of its own kind.
    """

    vocabulary_size: int

    def start(self, batch: int) -> State: ...

    def log_probs(self, state: State) -> Array:
        """(B, V) natural logs of p(· | what the state has read); never changes the state."""
        ...

    def advance(self, state: State, ids: Array) -> State:
        """Reads one token per row: ids is (B,)."""
        ...

    def pick(self, state: State, rows: Array) -> State:
        """Rows of the state, as often and in the order asked for: beams and forks."""
        ...

    def score(self, ids: Array) -> Array:
        """(B, T): ln p(ids[t] | <s>, ids[:t]), all at once; what follows a position never changes it."""
        ...


@runtime_checkable
class Joins(Protocol):
    """A language model whose rows may have read different numbers of tokens, so that new rows can join a batch."""

    def join(self, states: Sequence[Any]) -> Any:
        """The rows of several states as one batch; may consume them."""
        ...


@runtime_checkable
class Shortenable(Protocol):
    """A language model that uses at most `context` tokens, and can be limited to fewer."""

    context: int

    def shortened(self, context: int) -> LanguageModel: ...


@runtime_checkable
class HasSources(Protocol):
    """A language model whose rows have sources of their own: texts to translate, images to describe."""

    def begin(self, rows: np.ndarray) -> Any:
        """The state of the rows of these sources, by their number, after <s>."""
        ...


@runtime_checkable
class ReadsAtOnce(Protocol):
    """A language model that reads several tokens, such as a prompt, faster than one by one."""

    def read(self, state: Any, ids: Array) -> Any:
        """The state after the (B, T) ids; as `advance`, it may consume the state it is given.

        A state of None means new rows, which read <s> first.
        """
        ...


@runtime_checkable
class WritesElsewhere(Protocol):
    """A language model with another form that generates faster, with the same probabilities up to rounding."""

    def to_write(self) -> LanguageModel: ...


@runtime_checkable
class WritesAhead(Protocol):
    """A language model that can choose several tokens in a row on its own device."""

    def steps_ahead(self, state: Any, choosing: Any, ids: np.ndarray, most: int) -> Any:
        """Steps that continue from a state whose rows have read these ids, for at most `most` tokens; or None.

        `choosing` is a `generation.choosing.Choosing`. The steps have `rows`, `room` (tokens that they can still
        write), `run(u)` for u (R, N), which gives ids, ln p after the filters and ln p of the model, (R, N) each in
        NumPy, and `state()`, the model's state afterwards.
        """
        ...


@runtime_checkable
class ScoresUnits(Protocol):
    """A model that scores a stream of units without padding: what `chainrule score` needs beside language models.

    A language model gives ln p of each token after those before it, a masked one after all others of its unit.
    """

    def score_units(self, ids: Array) -> Array:
        """(T,): ln p of each token of a stream of units that each end with </s>."""
        ...


@runtime_checkable
class Filler(Protocol):
    """A model that predicts masked tokens. What `chainrule fill` needs."""

    def fill(self, text: str, *, top: int = ...) -> list[list[tuple[str, float]]]:
        """For each [MASK] in the text, the likeliest tokens with their probabilities."""
        ...


@runtime_checkable
class WordVectors(Protocol):
    """A vector for each word; similar words have near vectors. What `chainrule neighbors` and `analogy` need."""

    dimension: int
    words: Sequence[str]

    def vector(self, word: str) -> np.ndarray:
        """(D,); an unknown word is an error."""
        ...

    def spelling(self, word: str) -> str:
        """The word, if it has a vector; otherwise another spelling that has one."""
        ...

    def most_similar(self, positive: Any, negative: Any = ..., *, topn: int = ...,
                     restrict_vocab: int | None = ...) -> list[tuple[str, float]]:
        """The words nearest to Σ positive − Σ negative, with their cosines."""
        ...


@runtime_checkable
class Classifier(Protocol):
    """Labels for texts. What `chainrule predict` needs."""

    labels: Sequence[str]

    def probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(texts, labels)."""
        ...

    def log_probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(texts, labels): ln p, also where p itself is too small for a float."""
        ...

    def predict(self, texts: Sequence[str | bytes], *, top: int = ..., threshold: float = ...
                ) -> list[list[tuple[str, float]]]:
        """For each text the likeliest labels with their probabilities."""
        ...


@runtime_checkable
class ExplainsLabels(Protocol):
    """A classifier that knows the share of each feature of a text: exactly, or to first order."""

    evidence_is: str  # how shares are computed

    def evidence(self, text: bytes, label: str, other: str) -> list[tuple[Any, float]] | None:
        """Each feature (with `kind`, `text` and the numbers of its `words`) and what it adds to label − other."""
        ...


@runtime_checkable
class ImageModel(Protocol):
    """Probabilities of images, pixel by pixel, from which new ones can be drawn."""

    size: tuple[int, int]  # height and width
    palette: np.ndarray  # (L, C): the color of each token

    def tokens(self, images: Sequence[np.ndarray]) -> np.ndarray:
        """(N, H·W): the tokens of images (H, W, C)."""
        ...

    def log_probs_of(self, tokens_NT: np.ndarray) -> np.ndarray:
        """(N, H·W): ln p of each, given those before it."""
        ...

    def draw(self, begin_NT: np.ndarray, strategy: Any, filters: Sequence[Any], *, first: int = ...
             ) -> tuple[np.ndarray, np.ndarray]:
        """Tokens of whole images that begin so, and ln p of what was added; `first` is the number of the first."""
        ...


@runtime_checkable
class Translator(Protocol):
    """Texts from sources: translations, headlines, captions. What `chainrule translate` needs."""

    def given(self, sources: Sequence[str | bytes]) -> LanguageModel:
        """The language model whose i-th row has the i-th source."""
        ...

    def translate(self, sources: Sequence[str | bytes], *, beams: int = ..., num: int = ...,
                  max_tokens: int | None = ..., length_penalty: float = ...) -> list[list[Any]]:
        """For each source its `num` best targets, with `text`, `log_prob` and `score`."""
        ...

    def align(self, source: str | bytes, target: str) -> Any:
        """What the tokens of a target looked at: `source`, `target` and `weights`; None where nothing shows it."""
        ...


@runtime_checkable
class Transcriber(Protocol):
    """Texts of recordings. What `chainrule transcribe` needs."""

    def transcribe(self, recordings: Sequence[str | bytes], *, beams: int = ...) -> list[list[tuple[str, float]]]:
        """For each recording, by its path, the likeliest texts with ln p, likeliest first; one where `beams` is 1."""
        ...


ABILITIES: dict[type, str] = {  # what a run can hold
    LanguageModel: "a language model", Filler: "a masked language model", WordVectors: "word vectors",
    Classifier: "a classifier", Translator: "a translator", ImageModel: "a model of images",
    Transcriber: "a transcriber", Tagger: "a tagger", MusicModel: "a model of piano rolls"}


def called(model: object) -> str:
    """What a model is, in a sentence."""
    return next((words for ability, words in ABILITIES.items() if isinstance(model, ability)), "another kind of model")


@runtime_checkable
class Layered(Protocol):
    """A differentiable model made of layers, whose inside can be measured."""

    layer_names: tuple[str, ...]
    window: int | None

    def token_vectors(self) -> np.ndarray:
        """(V, D): the embedding of each token."""
        ...

    def position_similarity(self) -> list[Any]:
        """The similarity of positions: `models.inside.positions.Places`, the model's own first."""
        ...

    def gradients(self, ids: np.ndarray, *, clip: float | None = ...) -> Any:
        """Norms of gradients by layer and by distance in time: `models.inside.norms.Gradients`."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back. `unknown` is None where every text has tokens; `lossless` where decode undoes encode."""

    name: str
    vocabulary_size: int
    unknown: int | None
    start: int
    end: int
    lossless: bool
    keeps_space: bool  # if not, `unit=auto` is a line

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """int32 ids of the text, without <s> and </s>."""
        ...

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        """int32 ids of each line, each followed by </s>."""
        ...

    @abstractmethod
    def decode(self, ids: np.ndarray) -> str:
        """The text of these ids; <s> and </s> give nothing."""
        ...

    @abstractmethod
    def token(self, id: int) -> str:
        """The spelling of one token, for people."""
        ...

    @abstractmethod
    def stream(self, stretches: Iterator[Any], corpus: Any, options: Any) -> Iterator[np.ndarray]:
        """The ids of a stream of text, a batch at a time, with the end id at each unit's end."""
        ...

    @abstractmethod
    def byte_lengths(self) -> np.ndarray | None:
        """(V,) bytes of text that each token stands for; None where the ids cannot give the text back."""
        ...

    def digest(self) -> str:
        """SHA-256 of the tokenizer.json."""
        ...

    def save(self, path: Path) -> None:
        """Writes the tokenizer.json."""
        ...


@runtime_checkable
class EncodesText(Protocol):
    """A tokenizer that takes many lines at once as they lie in a file, faster than as strings."""

    def encode_text(self, text: bytes) -> np.ndarray:
        """int32 ids of whole lines of UTF-8, each line's followed by </s>."""
        ...


LEARNED = "learned"  # stands for every task that has a loss


class Family(Protocol):
    """What a recipe's `family` names: its options, how it is trained, how it is loaded. It is used as a class.

    A family derives from this class and overrides what differs.
    """

    Options: ClassVar[Any]  # a frozen pydantic model: the recipe's `model` section
    Training: ClassVar[Any] = None  # the same for the `training` section, where the family has one
    tasks: ClassVar[tuple[str, ...]] = ("language",)  # what it can learn, the usual one first; perhaps LEARNED
    tokenizer: ClassVar[str | None] = "words"  # where a recipe names none; None where data has words already
    sums: ClassVar[tuple[float, float]] = (0.99, 1.01)  # of the probabilities after a context: 1 but for rounding
    layered: ClassVar[bool] = False  # whether its models are `Layered`, also before they are trained
    changeable: ClassVar[tuple[str, ...]] = ()  # options that need not be a run's where a training starts from it
    encoder: ClassVar[tuple[str, ...]] = ()  # options of the part of a model that another task can begin with

    @classmethod
    def earlier(cls, data: dict[str, Any]) -> dict[str, Any]:
        """A recipe as plain values in the words of this version, where runs of earlier ones have others."""
        return data

    @classmethod
    def ready(cls) -> None:
        """Before anything is read: raises a UsageError where something must be installed first."""

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        """Before anything is read: raises a UsageError where a training cannot start from this run of the family.

        A family that overrides it finds the run in `job.start`, and keeps its tokenizer, or what that knows.
        """
        raise UsageError(f"{start.path}: a training of the family {recipe.family!r} cannot start from a finished run.")

    @classmethod
    def train(cls, job: Job) -> Trained: ...

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        """The reverse of `load`: adds the files of a run's model, which may have been changed since, to a folder."""
        raise UsageError(f"a model of the family {run.recipe.family!r} is saved only where it is trained.")

    @classmethod
    def load(cls, folder: Path, recipe: Any, tokenizer: Any) -> Any:
        """The model of a run folder: it satisfies some of the protocols above."""
        ...

    @classmethod
    def load_to_write(cls, folder: Path, recipe: Any, tokenizer: Any) -> Any:
        """The same for `generate` only: some models have a form that generates faster."""
        return cls.load(folder, recipe, tokenizer)

    @classmethod
    def begin(cls, recipe: Any, tokenizer: Any) -> Any:
        """An untrained model with initial weights, in a layered family."""
        raise UsageError(f"a model of the family {recipe.family!r} has no weights before it is trained.")

    @classmethod
    def cost(cls, recipe: Any, vocabulary_size: int, tokens: float | None = None, *, measure: bool = False
             ) -> dict[str, Any] | None:
        """What `chainrule cost` shows; None where size and time depend on the text alone."""
        return None

    @classmethod
    def parameters(cls, recipe: Any, vocabulary_size: int) -> int | None:
        """How many a model of this recipe has; None where the text decides."""
        return None
