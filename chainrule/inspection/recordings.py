"""Looking into models that hear: what was heard when, and how sure the model was along a recording."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.inspection.attention import plain_array
from chainrule.models.hearing import timed_words
from chainrule.models.transcriber import seconds_of_a_vector
from chainrule.protocols import Classifier, Transcriber
from chainrule.runs import LoadedRun, opened, task_of

MOMENTS = 40  # of a recording at which a classifier is asked
DIGITS = 4


def explain_recordings(run: str | Path | LoadedRun, files: Sequence[str], *, top: int = 5) -> dict[str, Any]:
    """What `chainrule inspect RUN FILE.wav --json` prints: for each recording its text or its labels, over time."""
    from chainrule.inputs.files import open_files

    loaded = opened(run)
    rows = open_files(files, loaded.recipe, task_of(loaded).modality, need_labels=False).rows if files else ()
    if isinstance(loaded.model, Transcriber):
        found = [_transcribed(loaded.model, task_of(loaded).modality, each.text) for each in rows]
    else:
        model = loaded.offering(Classifier, "inspect")
        found = [_classified(model, each.text, top) for each in rows]
    return {"run": str(loaded.path), "family": loaded.recipe.family, "recordings": found}


def _transcribed(model: Any, modality: Any, value: bytes) -> dict[str, Any]:
    """The text, when each token and each word was said, and of each token at every moment how probable it was there.

    Or, where a decoder writes, how much it looked there; `shows` says which.
    """
    heard, facts = model.heard(value), model.known.facts["inputs"]
    array = modality.encode([value], None, facts, 1 << 30)[0]
    tokens = [{"token": token, "begin": round(begin * heard.step, DIGITS), "end": round(end * heard.step, DIGITS),
               heard.shows: round(float(own[begin:end].max()), DIGITS)}
              for token, (begin, end), own in zip(heard.tokens, heard.spans, heard.weights, strict=True)]
    words = [{"word": word, "begin": round(begin, DIGITS), "end": round(end, DIGITS)}
             for word, begin, end in timed_words(heard)]
    return {"file": os.fsdecode(value), "seconds": round(len(array) * modality.frames.hop, DIGITS), "text": heard.text,
            "log_prob": heard.log_prob, "words": words, "tokens": tokens, "step": heard.step, "shows": heard.shows,
            "weights": _rounded(heard.weights), "spectrogram": _rounded(modality.spectrogram(array, facts))}


def _classified(model: Any, value: bytes, top: int) -> dict[str, Any]:
    """Labels, their probabilities as more and more is heard, and which part of the spectrogram spoke for the first.

    `gradient_times_input`: x ∂/∂x [ln p(label) − ln p(runner-up)], x = 0 being the mean of training (Shrikumar et al.
    2016, arXiv:1605.01713).
    """
    [array] = model.encoded([value])
    logs = model.log_probabilities([value])[0].astype(np.float64)
    best = np.argsort(-logs, kind="stable")
    shown, pair = best[:top], (int(best[0]), int(best[min(1, len(best) - 1)]))
    ends = np.unique(np.linspace(1, len(array), min(MOMENTS, len(array))).round().astype(int))
    log_p = model.log_p_of([array[:end] for end in ends])
    hop, facts = model.modality.frames.hop, model.known.facts["inputs"]
    return {"file": os.fsdecode(value), "seconds": round(len(array) * hop, DIGITS), "label": model.labels[pair[0]],
            "runner_up": model.labels[pair[1]] if pair[1] != pair[0] else None,
            "labels": [{"label": model.labels[n], "probability": float(np.exp(logs[n]))} for n in shown],
            "over_time": [{"label": model.labels[n], "probability": _rounded(np.exp(log_p[:, n]))} for n in shown],
            "moments": _rounded(ends * hop), "step": seconds_of_a_vector(model.stack, model.modality),
            "spectrogram": _rounded(model.modality.spectrogram(array, facts)),
            "gradient_times_input": _rounded(_gradient(model, array, pair).T[::-1])}


def _gradient(model: Any, array: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
    """(t, mels)."""
    inputs, _ = model.sent([array])
    given = inputs.detach().clone().requires_grad_()
    log_p = model.stack.head.log_probs(model.stack.eval().summary(given))
    (log_p[:, pair[0]] - log_p[:, pair[1]]).sum().backward()
    found = plain_array((given.grad * given)[0])
    model.stack.zero_grad(set_to_none=True)
    return found


def _rounded(values: np.ndarray) -> Any:
    return np.round(np.asarray(values, np.float64), DIGITS).tolist()
