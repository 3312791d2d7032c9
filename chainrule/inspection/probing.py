"""What layers know: for each layer a linear classifier guesses the tags of words from its vectors alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from chainrule.errors import DataError
from chainrule.inputs.tagged import AUTO, Tagged, tagged
from chainrule.inspection.stacks import Opened
from chainrule.text.corpora import open_corpus
from chainrule.vectors.logistic import fit
from chainrule.watching import watch

TESTED = 5  # every fifth sentence is held out
L2 = 1e-3


@dataclass(frozen=True)
class Known:
    """How many tags of held-out words are guessed right, with its 95 % interval."""

    name: str
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Probed:
    """The probes of one model; `baselines` see no vector of it."""

    words: int  # that were trained on
    tested: int
    tags: tuple[str, ...]
    baselines: tuple[Known, ...]
    layers: tuple[Known, ...]  # the embedding first


def probe(opened: Opened, data: str, words: int, column: str = AUTO) -> Probed:
    r"""Softmax regression on the vectors after the embedding and after every sublayer.

    p(tag | word) ∝ exp(w_tag · h + b_tag), h the vector of the word's last token; every number of h is brought to
    mean 0 and deviation 1. Every fifth sentence is held out. Alain & Bengio 2017, arXiv:1610.01644; the words' most
    frequent tags are the baseline that a probe has to beat (Hewitt & Liang 2019, arXiv:1909.03368, show why one is
    needed).
    """
    sentences = _taken(list(tagged(open_corpus(data, opened.recipe.text), column)), words)
    held = [n % TESTED == TESTED - 1 for n in range(len(sentences))]
    tags = sorted({tag for sentence in sentences for tag in sentence.tags})
    if len(sentences) < TESTED or len(tags) < 2:
        raise DataError(f"{data}: {len(sentences)} sentences with {len(tags)} tags, expected at least {TESTED} with 2.")
    ids = {tag: n for n, tag in enumerate(tags)}
    wanted = np.array([ids[tag] for sentence in sentences for tag in sentence.tags])
    test = np.array([out for sentence, out in zip(sentences, held, strict=True) for _ in sentence.words])
    spelled = [word for sentence in sentences for word in sentence.words]
    layers = [_right(name, _regression(vectors, wanted, test, len(tags)), wanted[test])
              for name, vectors in _vectors(opened, sentences).items()]
    return Probed(int((~test).sum()), int(test.sum()), tuple(tags), _baselines(spelled, wanted, test), tuple(layers))


def _taken(sentences: list[Tagged], words: int) -> list[Tagged]:
    """Sentences from the beginning, up to so many words."""
    ends = np.cumsum([len(each.words) for each in sentences])
    return sentences[:int(np.searchsorted(ends, words)) + 1]


@torch.no_grad()
def _vectors(opened: Opened, sentences: Sequence[Tagged]) -> dict[str, np.ndarray]:
    """(words, D) of each layer."""
    stack, found = opened.stack, dict[str, list[np.ndarray]]()
    names = ["embedding", *stack.shape.layer_names]
    for sentence in sentences:
        ids, places = _tokens(opened, sentence)
        with watch() as seen:
            stack(torch.from_numpy(ids[None]).to(stack.device))
        outputs: list[Any] = [seen["embedded"][0], *(seen[f"sublayers.{n}/output"][0] for n in range(len(names) - 1))]
        for name, vectors in zip(names, outputs, strict=True):
            if vectors.shape[1] == len(ids):  # not between pooling and up-sampling
                found.setdefault(name, []).append(vectors[0].float().cpu().numpy()[places])
    return {name: np.concatenate(each) for name, each in found.items()}


def _tokens(opened: Opened, sentence: Tagged) -> tuple[np.ndarray, np.ndarray]:
    """The sentence between marks, and where the last token of each word stands.

    Of a sentence that is longer than the context, words beyond it are represented by the last token that is read.
    """
    tokenizer, causal = opened.tokenizer, opened.stack.shape.causal
    pieces = [np.asarray(tokenizer.encode(word if n == 0 else f" {word}"), np.int64)
              for n, word in enumerate(sentence.words)]
    places = np.cumsum([len(piece) for piece in pieces])  # one mark stands before them
    marks = [tokenizer.start if causal else tokenizer.end], [tokenizer.end]
    ids = np.concatenate([marks[0], *pieces, *([] if causal else [marks[1]])]).astype(np.int64)
    room = opened.recipe.model.context
    return ids[:room], np.minimum(places, min(len(ids), room) - 1)


def _regression(vectors: np.ndarray, wanted: np.ndarray, test: np.ndarray, classes: int) -> np.ndarray:
    """The tags that a probe gives the held-out words."""
    mean, spread = vectors[~test].mean(0), vectors[~test].std(0) + 1e-6
    x = (vectors - mean) / spread
    return fit(x[~test], wanted[~test], classes, l2=L2, tolerance=1e-3).predict(x[test])


def _baselines(words: Sequence[str], wanted: np.ndarray, test: np.ndarray) -> tuple[Known, ...]:
    """The most frequent tag of all, and of each word; an unknown word has the most frequent of all."""
    most = int(np.bincount(wanted[~test]).argmax())
    counts: dict[str, Counter[int]] = {}
    for word, tag, out in zip(words, wanted.tolist(), test, strict=True):
        if not out:
            counts.setdefault(word, Counter())[tag] += 1
    by_word = [counts[word].most_common(1)[0][0] if word in counts else most
               for word, out in zip(words, test, strict=True) if out]
    right = wanted[test]
    return (_right("most frequent tag", np.full(len(right), most), right),
            _right("most frequent tag of each word", np.array(by_word), right))


def _right(name: str, given: np.ndarray, wanted: np.ndarray) -> Known:
    """The share that is right, with Wilson's interval (1927)."""
    n, share, z = len(wanted), float((given == wanted).mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Known(name, share, middle - half, middle + half)
