"""What the families have in common: a language model reads a token and gives a distribution over the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

Array = Any  # a NumPy array or a torch tensor; code above the families uses only what the array API has
State = TypeVar("State")


@runtime_checkable
class LanguageModel(Protocol[State]):
    """p(w₁…w_T) = Π_t p(w_t | w_<t), one token at a time or all at once.

    `start` has read only <s>. `advance` may consume the state it is given; `pick` gives independent copies.
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
class Shortenable(Protocol):
    """A language model that remembers at most `context` tokens, and can be asked to make do with fewer."""

    context: int

    def shortened(self, context: int) -> LanguageModel: ...


@runtime_checkable
class ReadsAtOnce(Protocol):
    """A language model that reads several tokens in less time than one by one: prompts."""

    def read(self, state: Any, ids: Array) -> Any:
        """The state after the (B, T) ids; as `advance`, it may consume the state it is given."""
        ...


@runtime_checkable
class WritesElsewhere(Protocol):
    """A language model that writes faster in another form of itself, with the same probabilities up to rounding."""

    def to_write(self) -> LanguageModel: ...


@runtime_checkable
class ScoresUnits(Protocol):
    """A language model that scores a stream of units as it lies, without padding."""

    def score_units(self, ids: Array) -> Array:
        """(T,): ln p of each token of a stream of units that each end with </s>."""
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

    def encode(self, text: str) -> np.ndarray:
        """int32 ids of the text, without <s> and </s>."""
        ...

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        """int32 ids of each line, each followed by </s>."""
        ...

    def decode(self, ids: np.ndarray) -> str:
        """The text of these ids; <s> and </s> give nothing."""
        ...

    def token(self, id: int) -> str:
        """The spelling of one token, for people."""
        ...


@runtime_checkable
class WordVectors(Protocol):
    """A vector for each word: nearness means likeness. What `chainrule neighbors` and `analogy` need."""

    dimension: int
    words: Sequence[str]

    def vector(self, word: str) -> np.ndarray:
        """(D,); an unknown word is an error."""
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

    def predict(self, texts: Sequence[str | bytes], *, top: int = ..., threshold: float = ...
                ) -> list[list[tuple[str, float]]]:
        """For each text the likeliest labels with their probabilities."""
        ...


ABILITIES: dict[type, str] = {  # what a run can hold
    LanguageModel: "a language model", WordVectors: "word vectors", Classifier: "a text classifier"}


def called(model: object) -> str:
    """What a model is, in a sentence."""
    return next((words for ability, words in ABILITIES.items() if isinstance(model, ability)), "another kind of model")
