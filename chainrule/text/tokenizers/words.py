"""Words between white space: the tokens of classical n-gram models."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainrule.errors import DataError
from chainrule.recipe.registry import part
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import TrainedTokenizer
from chainrule.text.tokenizers._layout import layout
from chainrule.text.tokenizers._ranking import check, ranked
from chainrule.text.units import END, Stretch, stretches, unit_of

if TYPE_CHECKING:
    from chainrule.kernels.words import WordTable

JIT_PAYS_FROM = 4 << 20  # bytes of lines: encoding them plainly takes about as long as loading Numba and its kernels
SPELLED = 1 << 14  # words of tokenizer.json made at a time
UNKNOWN, MARK, STOP = 0, 1, 2  # no text has the id of <s>: words that are spelled like a mark are found by it
MARKS = {END: STOP, b"<s>": MARK, b"</s>": MARK}
A_MARK = re.compile(rb"(?<![^\0\t\n\v\f\r ])</?s>(?![^\0\t\n\v\f\r ])")


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What trains a vocabulary of counted words, however a text is split into them: `made` says that."""

    min_count: int = 1
    size: int | None = None
    keeps_space = False
    made: ClassVar[type[WordTokenizer]]

    def __post_init__(self) -> None:
        check(self.made.name, specials=3, min_count=self.min_count, size=self.size)

    def train(self, corpus: Corpus, options: TextOptions) -> WordTokenizer:
        growing = self.growing()
        for _ in growing.stream(stretches(corpus, unit_of(options, keeps_space=False), options), corpus, options):
            continue
        return growing.finish()[0]

    def growing(self) -> GrowingWords:
        """A vocabulary that grows while it encodes."""
        return GrowingWords(self.min_count, self.size, self.made)

    def join(self, parts: Sequence[WordTokenizer], counts: Sequence[np.ndarray]
             ) -> tuple[WordTokenizer, list[np.ndarray]]:
        """The vocabulary of the parts' texts taken together, and for each part its ids' new ids."""
        return self.growing().joined(parts, counts)

    @classmethod
    def load(cls, layout: Mapping[str, Any]) -> WordTokenizer:
        vocabulary = layout["model"]["vocab"]
        tokens = list(vocabulary)
        if list(vocabulary.values()) != list(range(len(tokens))):  # our own files have them in this order
            tokens.sort(key=vocabulary.__getitem__)
        joined = "\n".join(tokens).encode()  # one by one takes three times as long
        return cls.made(joined.split(b"\n") if joined.count(b"\n") + 1 == len(tokens) else
                        [token.encode() for token in tokens])


class GrowingWords:
    """Gives every new word the next id; at the end, the ids are put in order of their counts."""

    keeps_space, end = False, STOP

    def __init__(self, min_count: int, size: int | None, made: type[WordTokenizer]):
        self.min_count, self.size, self.made = min_count, size, made
        self.table: defaultdict[bytes, int] = defaultdict(count(3).__next__, MARKS)
        self.counts = np.zeros(1024, np.int64)

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        pending: list[np.ndarray] = []
        for ids in _encoded(stretches, self._ids, corpus, options):
            pending.append(ids)
            if sum(map(len, pending)) > len(self.table):  # adding up costs as much as the vocabulary is long
                pending = self._add(pending)
            yield ids
        self._add(pending)

    def _ids(self, text: bytes) -> np.ndarray:
        words = self.made.split(text)
        return np.fromiter(map(self.table.__getitem__, words), np.int32, len(words))

    def _add(self, pending: list[np.ndarray]) -> list[np.ndarray]:
        if len(self.table) + 1 > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(len(self.table) + 1, np.int64)])
        for ids in pending:
            found = np.bincount(ids)
            self.counts[: len(found)] += found
        return []

    def learn(self, words: Sequence[bytes], times: np.ndarray) -> np.ndarray:
        """Takes words that were counted elsewhere; gives their ids."""
        ids = np.fromiter(map(self.table.__getitem__, words), np.int32, len(words))
        self._add([])
        self.counts[ids] += times
        return ids

    def joined(self, parts: Sequence[WordTokenizer], counts: Sequence[np.ndarray]
               ) -> tuple[WordTokenizer, list[np.ndarray]]:
        """The vocabulary of several texts taken together, and for each its ids' new ids."""
        given = [self.learn(part.tokens[3:], times[3:]) for part, times in zip(parts, counts, strict=True)]
        tokenizer, renumber = self.finish()
        marks = np.array([UNKNOWN, MARK, STOP], np.int32)
        return tokenizer, [np.concatenate([marks, renumber[ids]]) for ids in given]

    def finish(self) -> tuple[WordTokenizer, np.ndarray]:
        """The tokenizer, and for each id given so far the id that it has now."""
        words = [word for word in self.table if word not in MARKS]
        by_spelling = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
        room = None if self.size is None else self.size - 3
        best = ranked(self.counts[3 : 3 + len(words)], by_spelling, self.min_count, room)
        renumber = np.zeros(3 + len(words), np.int32)  # all others are unknown
        renumber[MARK], renumber[STOP] = MARK, STOP
        renumber[3 + best] = np.arange(3, 3 + len(best))
        kept = [words[i] for i in best.tolist()]
        return self.made([_spelled_unknown(set(kept)), b"<s>", b"</s>", *kept]), renumber


class WordTokenizer(TrainedTokenizer):
    """A fixed vocabulary of words; decoding puts one space between them."""

    name, start, end = "words", MARK, STOP
    unknown: int | None = UNKNOWN
    lossless, keeps_space = False, False
    at_spaces = True  # words lie between white space, so that a kernel can look them up
    normalizer: Mapping[str, Any] | None = None  # as tokenizer.json says it, and what the text is split at or into
    splits: Mapping[str, Any] = {"pattern": {"Regex": r"[\x00\t\n\x0b\x0c\r ]+"}, "invert": False}

    def __init__(self, tokens: Sequence[bytes]):
        self.tokens, self.asked = tokens, 0
        self.vocabulary_size = len(tokens)

    @cached_property
    def table(self) -> dict[bytes, int]:
        found = dict(zip(self.tokens, range(len(self.tokens)), strict=True))
        found.update(MARKS)
        return found

    @staticmethod
    def split(data: bytes) -> list[bytes]:
        """The words of a text, and END where a unit ends."""
        if b"\0" in data:
            data = data.replace(b"\0", b" ")
        return data.replace(END, b" \xff ").split()

    def encode(self, text: str) -> np.ndarray:
        return self._plain(text.encode(errors="replace"), UNKNOWN)

    def encode_lines(self, lines: Sequence[str]) -> np.ndarray:
        data = "\n".join(lines).encode(errors="replace")
        if data.count(b"\n") >= len(lines):  # a line that holds a line end stays one
            return super().encode_lines(lines)
        return self.encode_text(data + b"\n")

    def encode_text(self, text: bytes) -> np.ndarray:
        if self._pays(text):
            return self.hashed.ids(text, unknown=UNKNOWN, marked=UNKNOWN, end=STOP, stop=b"\n")
        return self._plain(text.replace(b"\n", END), UNKNOWN)

    def _plain(self, data: bytes, marked: int) -> np.ndarray:
        """The ids of the words, STOP for each END, and `marked` for words that are spelled like a mark."""
        words = self.split(data)
        ids = np.fromiter(map(self.table.get, words, repeat(UNKNOWN)), np.int32, len(words))
        return ids if marked == MARK else np.where(ids == MARK, marked, ids)

    def _pays(self, text: bytes) -> bool:
        """Whether so much has been asked that the kernel pays off."""
        self.asked += len(text)
        return self.at_spaces and self.asked >= JIT_PAYS_FROM

    @cached_property
    def hashed(self) -> WordTable:
        from chainrule.kernels.words import WordTable

        return WordTable([b"\n"] * 3 + list(self.tokens[3:]), [b"<s>", b"</s>"])  # the first three ids are no words

    def decode(self, ids: np.ndarray) -> str:
        return b" ".join([self.tokens[i] for i in np.asarray(ids).tolist() if i not in (MARK, STOP)]).decode()

    def token(self, id: int) -> str:
        return self.tokens[id].decode()

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        return _encoded(stretches, self._marked, corpus, options)

    def _marked(self, data: bytes) -> np.ndarray:
        if self._pays(data):
            return self.hashed.ids(data, unknown=UNKNOWN, marked=MARK, end=STOP, stop=END)
        return self._plain(data, MARK)

    def byte_lengths(self) -> None:
        return None

    def _spelled(self) -> Iterator[tuple[int, list[str]]]:
        for low in range(0, len(self.tokens), SPELLED):
            yield low, b"\n".join(self.tokens[low : low + SPELLED]).decode().split("\n")  # no word has a line end in it

    def to_json(self) -> str:
        spelled = [token.decode() for token in self.tokens[:3]]
        split = {"type": "Split", "behavior": "Removed", **self.splits}
        model = {"type": "WordLevel", "vocab": {}, "unk_token": spelled[0]}
        empty = layout(model, dict(zip(spelled[:3], range(3), strict=True)), split, None, self.normalizer)
        entries = ", ".join(", ".join(map("%s: %d".__mod__, zip(map(encode_basestring, some), count(low))))
                            for low, some in self._spelled())  # some at a time, as half a million take much memory
        return empty.replace('"vocab": {}', f'"vocab": {{{entries}}}')  # 2.5 times as fast as json.dumps on the dict


@part
@dataclass(frozen=True, kw_only=True)
class Words(Counted):
    """Splits at ASCII white space and NUL, as KenLM does; words that are rare or unseen become <unk>."""

    made = WordTokenizer


def _encoded(stretches: Iterator[Stretch], ids_of: Callable[[bytes], np.ndarray], corpus: Corpus,
             options: TextOptions) -> Iterator[np.ndarray]:
    """Ids of whole words: one that a stretch cuts is finished by the next."""
    for text in _whole_words(stretches):
        ids = ids_of(text)
        if MARK in ids:
            if options.marks == "error":
                raise DataError(_where_marked(corpus))
            ids = ids[ids != MARK]
        yield ids


def _whole_words(stretches: Iterator[Stretch]) -> Iterator[bytes]:
    open_word: list[bytes] = []
    for stretch in stretches:
        cut = 1 + max(stretch.data.rfind(byte) for byte in (END, b" ", b"\n", b"\t", b"\r", b"\v", b"\f", b"\0")) \
            if not stretch.data.endswith(END) else len(stretch.data)
        if cut:
            yield b"".join([*open_word, stretch.data[:cut]])
            open_word = []
        open_word.append(stretch.data[cut:])


def _spelled_unknown(words: set[bytes]) -> bytes:
    """<unk>, unless the text has that word itself."""
    spelling = b"<unk>"
    while spelling in words:
        spelling = b"<unknown>" if spelling == b"<unk>" else spelling[:-1] + b"_>"
    return spelling


def _where_marked(corpus: Corpus) -> str:
    for chunk in corpus.chunks():
        if found := A_MARK.search(chunk.data):
            line = chunk.line + chunk.data.count(b"\n", 0, found.start())
            return (f"{chunk.source}: line {line}: the text has the word {found[0].decode()}, which marks where a unit "
                    "starts or ends. Set text.marks=drop to take such words out.")
    raise AssertionError("a mark was found in the text, and then was not")
