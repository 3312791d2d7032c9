"""A trained model is tried before it is saved: numbers are finite, and probabilities sum to 1 in sampled contexts."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.arrays import to_numpy
from chainrule.protocols import Classifier, Filler, ImageModel, LanguageModel, MusicModel, Tagger, WordVectors
from chainrule.tagger_protocols import WeighsTags

ROWS, LENGTH = 3, 4  # sampled contexts: so many rows of so many random tokens
SAMPLE = 64  # words that are looked at
ROUNDING = 1e-3


def unsound(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    """What is wrong with a model, in words; None where its answers may be right.

    Of a language model Σ_w p(w|h) must be in `sums`, after <s> and after random tokens h.
    """
    for ability, check in CHECKS.items():
        if isinstance(model, ability):
            with np.errstate(all="ignore"):  # what comes of it is looked at
                return check(model, tokenizer, sums)
    return None


def _language_model(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    marks = [id for id in (tokenizer.start, tokenizer.end) if id is not None]
    words = np.setdiff1d(np.arange(model.vocabulary_size), marks)
    if not len(words):
        return None
    read_RT = np.random.default_rng(0).choice(words, (ROWS, LENGTH))
    state = model.start(ROWS)
    for t in range(LENGTH + 1):
        total_R = np.exp(to_numpy(model.log_probs(state)).astype(np.float64)).sum(1)
        for row, total in enumerate(total_R.tolist()):
            if not sums[0] <= total <= sums[1]:
                seen = " ".join(str(tokenizer.token(int(id))) for id in [tokenizer.start, *read_RT[row, :t]])
                return f"the probabilities after {seen!r} sum to {total:.4g}, expected 1"
        if t < LENGTH:
            state = model.advance(state, read_RT[:, t])
    return None


def _filler(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    chances = [chance for gap in model.fill("[MASK] [MASK]") for _, chance in gap]
    return None if _are_probabilities(np.array(chances)) else "the probabilities of masked tokens are not from 0 to 1"


def _vectors(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    for row in np.unique(np.linspace(0, len(model.words) - 1, SAMPLE).astype(int)).tolist() if model.words else []:
        if not np.isfinite(model.vector(model.words[row])).all():
            return f"the vector of {model.words[row]!r} has numbers that are not finite"
    return None


def _classifier(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    if tokenizer is None:  # it reads no text, so it says itself what can be tried
        good = _are_probabilities(np.exp(model.log_p_of_example()))
        return None if good else "the probabilities of labels are not from 0 to 1"
    spread = np.unique(np.linspace(0, tokenizer.vocabulary_size - 1, SAMPLE).astype(int)).tolist()
    texts = ["", *(tokenizer.token(id) for id in spread)]
    good = _are_probabilities(np.asarray(model.probabilities(texts)))
    return None if good else "the probabilities of labels are not from 0 to 1"


def _image_model(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    tokens_LT = np.tile(np.arange(len(model.palette))[:, None], (1, model.size[0] * model.size[1]))
    good = _are_probabilities(np.exp(model.log_probs_of(tokens_LT)))
    return None if good else "the probabilities of pixels are not from 0 to 1"


def _tagger(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    if not isinstance(model, WeighsTags):
        return None
    good = all(_are_probabilities(each) for each in model.probabilities([["a", "Word", "7", "?"], ["a"]]))
    return None if good else "the probabilities of tags are not from 0 to 1"


def _music_model(model: Any, tokenizer: Any, sums: tuple[float, float]) -> str | None:
    [scores] = model.scores_of([np.eye(LENGTH, 88, dtype=np.uint8)])
    return None if np.isfinite(scores).all() else "the probabilities of keys are not from 0 to 1"


def _are_probabilities(p: np.ndarray) -> bool:
    return bool(((p >= 0) & (p <= 1 + ROUNDING)).all())  # NaN is neither


CHECKS = {LanguageModel: _language_model, Filler: _filler, WordVectors: _vectors, Classifier: _classifier,
          ImageModel: _image_model, MusicModel: _music_model, Tagger: _tagger}
