"""What every trained tokenizer can do, and how one is read back from its tokenizer.json."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from chainrule.errors import StorageError
from chainrule.recipe import registry
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.units import Stretch

KIND = "text/tokenizers"


class TrainedTokenizer(ABC):
    """What the tokenizers of this package share; `protocols.Tokenizer` is what others know of them."""

    name: str
    vocabulary_size: int
    unknown: int | None
    start: int
    end: int
    lossless: bool
    keeps_space: bool  # where it does not, `unit=auto` is a line

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """int32 ids of the text, without <s> and </s>."""

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        """The ids of each line, each followed by the end id."""
        end = np.array([self.end], np.int32)
        return np.concatenate([part for line in lines for part in (self.encode(line), end)] or [end[:0]])

    @abstractmethod
    def decode(self, ids: np.ndarray) -> str:
        """The text of these ids; <s> and </s> give nothing."""

    @abstractmethod
    def token(self, id: int) -> str:
        """The spelling of one token, for people."""

    @abstractmethod
    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        """The ids of a stream of text, a batch at a time, with the end id at each unit's end."""

    @abstractmethod
    def byte_lengths(self) -> np.ndarray | None:
        """(V,) bytes of text that each token stands for; None where the ids cannot give the text back."""

    @abstractmethod
    def to_json(self) -> str:
        """The tokenizer.json, which `tokenizers.Tokenizer.from_str` reads too."""

    def digest(self) -> str:
        """SHA-256 of the tokenizer.json."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Writes the tokenizer.json."""
        path.write_text(self.to_json(), encoding="utf-8")


class Trainer(Protocol):
    """What a recipe's choice of tokenizer builds: options in the constructor, a tokenizer out of `train`.

    One whose vocabulary is a list of counted words also has `join`, which makes one vocabulary of several texts'.
    """

    keeps_space: bool

    def train(self, corpus: Corpus, options: TextOptions) -> TrainedTokenizer: ...

    @staticmethod
    def load(layout: Mapping[str, Any]) -> TrainedTokenizer:
        """The tokenizer that a parsed tokenizer.json describes."""
        ...


def load_tokenizer(path: Path) -> TrainedTokenizer:
    """Reads a tokenizer.json that `Tokenizer.save` wrote."""
    try:
        layout = json.loads(Path(path).read_text(encoding="utf-8"))
        return registry.find(KIND, _name(layout)).load(layout)  # type: ignore[attr-defined]
    except FileNotFoundError:
        raise StorageError(f"{path}: no such file, expected a tokenizer.json.") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise StorageError(f"{path}: not a tokenizer that chainrule wrote ({error}).") from None


def _name(layout: Mapping[str, Any]) -> str:
    """The part that made this file: the format does not store its name, but each part's files differ in structure."""
    match layout["model"]["type"], layout["decoder"]:
        case "WordLevel", None:
            return "words" if layout["normalizer"] is None else "plain_words"
        case "WordLevel", {"type": "Fuse"}:
            return "characters"
        case "BPE", {"type": "ByteLevel"}:
            return "byte_pair" if layout["model"]["merges"] else "bytes"
        case "Unigram", {"type": "ByteLevel"}:
            return "unigram"
    raise ValueError(f"its model is {layout['model']['type']}")
