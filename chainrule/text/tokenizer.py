"""What every trained tokenizer can do, and how one is read back from its tokenizer.json."""

from __future__ import annotations

import hashlib
import json
import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from chainrule.errors import StorageError
from chainrule.protocols import Tokenizer
from chainrule.recipe import registry
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions

KIND = "text/tokenizers"
log = logging.getLogger("chainrule")


class TrainedTokenizer(Tokenizer):
    """What the tokenizers of this package share; the protocol says what each has to do itself."""

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        """The ids of each line, each followed by the end id."""
        end = np.array([self.end], np.int32)
        return np.concatenate([part for line in lines for part in (self.encode(line), end)] or [end[:0]])

    def encode_text(self, text: bytes) -> np.ndarray:
        """The same for whole lines of UTF-8, each with its newline."""
        return self.encode_lines(text.decode().split("\n")[:-1])

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
        case "BPE", {"type": "Sequence"}:
            return "characters_and_bytes"
        case "BPE", {"type": "ByteLevel"}:
            return "byte_pair" if layout["model"]["merges"] else "bytes"
        case "Unigram", {"type": "ByteLevel"}:
            return "unigram"
    raise ValueError(f"its model is {layout['model']['type']}")


def spelled(tokenizer: Tokenizer, id: int) -> str:
    """What a token adds to the text; its own spelling where that is nothing, or a piece of a character."""
    text = tokenizer.decode(np.array([id], np.int32))
    return text if text and "\ufffd" not in text else tokenizer.token(id)


def as_words(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """Each token as a reader names it: without the space before it, which byte pairs have."""
    return [spelled(tokenizer, id).strip() or tokenizer.token(id) for id in ids]


def unseen_words(tokenizer: Tokenizer, text: str) -> list[str]:
    """The words of a text, at white space, that the tokenizer has no tokens for; each once."""
    if tokenizer.unknown is None:
        return []
    return [word for word in dict.fromkeys(text.split()) if tokenizer.unknown in tokenizer.encode(word)]


def name_unseen_words(tokenizer: Tokenizer, text: str) -> None:
    """A line for the user where a model is given words that it never saw."""
    if unseen := unseen_words(tokenizer, text):
        log.info(f"the model never saw {', '.join(map(repr, unseen))}; it reads an unknown word instead.")
