"""Tokenizers that cut words into pieces of bytes: byte_pair and unigram, trained and defined by `tokenizers`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count, islice, takewhile
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from chainrule.errors import DataError, is_panic
from chainrule.text.corpora.blocks import cut_text
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import TrainedTokenizer
from chainrule.text.tokenizers._layout import START_STOP, byte_spellings
from chainrule.text.units import END, Stretch, stretches, unit_of

STOP = "\udcff"  # how `surrogateescape` decodes END
ALWAYS = 258  # the two marks and every byte
MOST = 1 << 22  # tokens: the library takes memory for them before it reads, and ends the process where there is none
SMALL = 1 << 14  # bytes handed to the trainer at a time: it takes 256 such texts at once
WORDS = 1 << 19  # words whose pieces are remembered
SYMBOLS = "\x80-\xbf×÷\u2000-\u2bff\u3000-\u303f\ufe00-\ufe6f\uff00-\uff0f\U0001f000-\U0001faff"


def pattern(stop: str = "") -> str:
    """Where words begin and end, as in GPT-2, with no word longer than 64 characters after its space.

    Character classes are spelled out, so that Python and `tokenizers` agree whatever their Unicode versions; `stop`
    is a character that ends the text.
    """
    letter, white = rf"[^\x00-@\[-`{{-\x7f{SYMBOLS}{stop}]", r"[\t-\r ]"
    other = rf"[!-/:-@\[-`{{-~\x00-\x08\x0e-\x1f\x7f{SYMBOLS}]"
    return (rf"'(?:[sdmt]|ll|ve|re)| ?{letter}{{1,64}}| ?[0-9]{{1,64}}| ?{other}{{1,64}}"
            rf"|{white}{{1,64}}(?![^\t-\r {stop}])|{white}{{1,64}}")


WORD = re.compile(f"{pattern(STOP)}|{STOP}")


def untrained(model: Any) -> Any:
    """A `tokenizers.Tokenizer` around a model, before training."""
    import tokenizers
    from tokenizers import decoders, pre_tokenizers

    library = tokenizers.Tokenizer(model)
    split = pre_tokenizers.Split(tokenizers.Regex(pattern()), "isolated")
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.pre_tokenizer = pre_tokenizers.Sequence([split, spell])
    library.decoder = decoders.ByteLevel()
    return library


def trained(library: Any, trainer: Any, texts: Iterator[str]) -> None:
    """Trains in a thread, because the library ignores signals: on a signal the text is ended early."""
    ended = Event()
    stopped: list[bool] = []
    problems: list[BaseException] = []

    def train() -> None:
        try:
            library.train_from_iterator(takewhile(lambda _: not stopped, texts), trainer)
        except BaseException as error:
            problems.append(error)
        finally:
            ended.set()

    try:
        Thread(target=train).start()
        while not ended.wait(0.1):  # a signal may reach the other thread, so wake up from time to time
            continue
    finally:
        stopped.append(True)  # a single call into C, so that no second signal comes before it
        _wait_for(ended)
    for problem in problems:
        with panics_explained("while it learned the pieces of words"):
            raise problem


@contextmanager
def panics_explained(when: str) -> Iterator[None]:
    """A panic of the library is no `Exception`; it becomes one line."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        said = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"the tokenizers library failed {when}: {said}. Try another tokenizer, or, if "
                        "the run's tokenizer.json was changed, a copy of the run.") from None


def _wait_for(ended: Event) -> None:
    """Waits despite further signals: Python must not shut down while the library is running."""
    done = False
    while not done:
        with suppress(KeyboardInterrupt, SystemExit):
            done = ended.wait(0.1)


def texts(corpus: Corpus, options: TextOptions) -> Iterator[str]:
    """What a trainer reads. A word that falls on a cut is counted as two; cuts are at line ends where there are any."""
    for stretch in stretches(corpus, unit_of(options, keeps_space=True), options):
        for unit in stretch.data.split(END):
            yield from (piece.decode() for piece, _ in cut_text(unit, SMALL))


class PieceTokenizer(TrainedTokenizer):
    """Words cut into pieces; every byte is a piece too, so nothing is unknown and nothing is lost."""

    unknown, start, end = None, 0, 1
    lossless, keeps_space = True, True

    def __init__(self, name: str, json: str):
        import tokenizers

        self.name, self.json = name, json
        try:
            with panics_explained("while it read tokenizer.json"):
                self.library = tokenizers.Tokenizer.from_str(json)
        except Exception as error:  # the library raises no narrower one
            raise ValueError(str(error)) from None
        self.library.encode_special_tokens = True  # marks are never read from the text
        self.vocabulary_size = self.library.get_vocab_size()

    @cached_property
    def cache(self) -> Cache:
        return Cache(self)

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes that each id stands for."""
        byte = {spelling: value for value, spelling in enumerate(byte_spellings())}
        spelled = [self.token(id) for id in range(self.vocabulary_size)]
        return [b"" if token in START_STOP else bytes(byte[c] for c in token) for token in spelled]

    def encode(self, text: str) -> np.ndarray:
        return self.cache.ids(WORD.findall(text.encode(errors="replace").decode()))

    def decode(self, ids: np.ndarray) -> str:
        return b"".join([self.pieces[i] for i in np.asarray(ids).tolist()]).decode(errors="replace")

    def token(self, id: int) -> str:
        spelling = self.library.id_to_token(id)
        assert spelling is not None, f"id {id} of {self.vocabulary_size}"
        return spelling

    def stream(self, stretches: Iterator[Stretch], corpus: Corpus, options: TextOptions) -> Iterator[np.ndarray]:
        """The last word of a stretch may go on in the next one, so it waits for it."""
        waiting = ""
        for stretch in stretches:
            words = WORD.findall(waiting + stretch.data.decode(errors="surrogateescape"))
            waiting = words.pop() if words and words[-1] != STOP else ""
            yield self.cache.ids(words)

    def byte_lengths(self) -> np.ndarray:
        return np.array([len(piece) for piece in self.pieces], np.int32)

    def to_json(self) -> str:
        return self.json


class Cache:
    """Word → ids, remembered: encoding through it takes a third of the time that the library takes."""

    number: defaultdict[str, int]  # word → its place in the next two
    first: np.ndarray  # where its ids begin in `flat`
    length: np.ndarray
    flat: np.ndarray

    def __init__(self, tokenizer: PieceTokenizer):
        self.tokenizer, self.lock = tokenizer, Lock()  # threads share a tokenizer
        self._forget()

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """The ids of all words, one after the other."""
        with self.lock:
            if len(self.number) > WORDS:
                self._forget()
            known = len(self.number)
            word = np.fromiter(map(self.number.__getitem__, words), np.int64, len(words))
            self._learn([*islice(reversed(self.number), len(self.number) - known)][::-1])
            first, length, flat = self.first[word], self.length[word], self.flat
        before = np.cumsum(length) - length
        return flat[np.repeat(first - before, length) + np.arange(length.sum())]

    def _learn(self, new: list[str]) -> None:
        """Appends the ids of new words to the flat table."""
        if not new:
            return
        with panics_explained("while it cut words into pieces"):
            cut = self.tokenizer.library.encode_batch_fast(new, add_special_tokens=False)
        found = [encoding.ids for encoding in cut]
        length = np.array([len(ids) for ids in found])
        flat = np.array([id for ids in found for id in ids], np.int32)
        self.first = np.concatenate([self.first, len(self.flat) + np.cumsum(length) - length])
        self.length = np.concatenate([self.length, length])
        self.flat = np.concatenate([self.flat, flat])

    def _forget(self) -> None:
        """Only the end of a unit is known from the start."""
        self.number = defaultdict(count(1).__next__, {STOP: 0})
        self.first, self.length = np.zeros(1, np.int64), np.ones(1, np.int64)
        self.flat = np.array([self.tokenizer.end], np.int32)
