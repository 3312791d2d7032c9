"""Small language models and tokenizers, each written straight from its definition, for tests of what uses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class History:
    """A model that remembers everything: p(· | h) is drawn from a generator seeded with h itself."""

    def __init__(self, vocabulary_size, seed=0, sharpness=1.0, start=1, impossible=()):
        self.vocabulary_size, self.seed, self.sharpness, self.start_id = vocabulary_size, seed, sharpness, start
        self.impossible = list(impossible)

    def start(self, batch):
        return [()] * batch

    def log_probs(self, state):
        return np.stack([self.row(history) for history in state]) if state else np.zeros((0, self.vocabulary_size))

    def row(self, history):
        rng = np.random.default_rng([self.seed, *(id + 1 for id in history)])
        logits = self.sharpness * rng.normal(size=self.vocabulary_size)
        logits[[self.start_id, *self.impossible]] = -np.inf
        return logits - np.log(np.exp(logits).sum())

    def advance(self, state, ids):
        return [(*history, int(id)) for history, id in zip(state, ids, strict=True)]

    def pick(self, state, rows):
        return [state[row] for row in rows]

    def score(self, ids):
        return np.array([[self.row(tuple(row[:t].tolist()))[row[t]] for t in range(len(row))] for row in ids])


class Bigram:
    """p(w | the token before), from a table of log-probabilities (V, V); and p(w) for a context of 0."""

    def __init__(self, log_p_VV, log_p_V=None, start=1):
        self.log_p_VV, self.log_p_V, self.start_id = np.asarray(log_p_VV), log_p_V, start
        self.vocabulary_size, self.context = len(self.log_p_VV), 1
        self.largest_batch = 0

    def start(self, batch):
        return np.full(batch, self.start_id)

    def log_probs(self, state):
        return self.log_p_VV[state]

    def advance(self, state, ids):
        return np.array(ids)

    def pick(self, state, rows):
        return state[rows]

    def score(self, ids):
        self.largest_batch = max(self.largest_batch, ids.size)
        before = np.concatenate([np.full((len(ids), 1), self.start_id), ids[:, :-1]], axis=1)
        return self.log_p_VV[before, ids]

    def shortened(self, context):
        if context >= 1:
            return self
        shorter = Bigram(np.tile(self.log_p_V, (self.vocabulary_size, 1)), start=self.start_id)
        shorter.context = 0
        return shorter


def random_bigram(vocabulary_size, seed=0, start=1, sharpness=1.0):
    """A Bigram whose rows are drawn at random; <s> has no probability."""
    rng = np.random.default_rng(seed)
    tables = []
    for shape in ((vocabulary_size, vocabulary_size), (1, vocabulary_size)):
        logits = sharpness * rng.normal(size=shape)
        logits[:, start] = -np.inf
        tables.append(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
    return Bigram(tables[0], tables[1][0], start=start)


class Lines:
    """Lines one by one, each with its end mark."""

    def encode_lines(self, lines):
        end = np.array([self.end], np.int32)
        return np.concatenate([part for line in lines for part in (self.encode(line), end)])


class Words(Lines):
    """Words at single spaces; unknown 0, start 1, end 2."""

    name, unknown, start, end, lossless = "words", 0, 1, 2, False

    def __init__(self, words):
        self.spellings = ["<unk>", "<s>", "</s>", *words]
        self.vocabulary_size = len(self.spellings)
        self.ids = {word: id for id, word in enumerate(self.spellings) if id > 2}

    def encode(self, text):
        return np.array([self.ids.get(word, 0) for word in text.split()], dtype=np.int32)

    def encode_lines(self, lines):
        return one_stream(self, lines)

    def decode(self, ids):
        return " ".join(self.spellings[id] for id in ids if id not in (1, 2))

    def token(self, id):
        return self.spellings[id]


class Bytes(Lines):
    """Bytes of UTF-8; start 0, end 1, no unknown."""

    name, unknown, start, end, lossless, vocabulary_size = "bytes", None, 0, 1, True, 258

    def encode(self, text):
        return np.frombuffer(text.encode(), np.uint8).astype(np.int32) + 2

    def encode_lines(self, lines):
        return one_stream(self, lines)

    def decode(self, ids):
        return bytes(int(id) - 2 for id in ids if id > 1).decode(errors="replace")

    def token(self, id):
        return repr(bytes([id - 2]))


def one_stream(tokenizer, lines):
    return np.array([id for line in lines for id in [*tokenizer.encode(line), tokenizer.end]], dtype=np.int32)


@dataclass
class Encoded:
    """A flat stream of ids and where its units end."""

    ids: np.ndarray
    ends: np.ndarray
    bytes: np.ndarray
    lost: int = 0


def encoded(tokenizer, lines, lost=0):
    units = [[*tokenizer.encode(line), tokenizer.end] for line in lines]
    return Encoded(np.array([id for unit in units for id in unit], dtype=np.uint16), np.cumsum([len(u) for u in units]),
                   np.array([len(line.encode()) + 1 for line in lines]), lost)
