"""Measurements of a trained model: its loss on every held-out token, its generation speed, and its predictions."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.arrays import to_numpy
from chainrule.evaluation.scoring import token_log_probs
from chainrule.experiments.holdout import texts
from chainrule.experiments.losses import bits, byte_lengths, places
from chainrule.generation.generate import generate
from chainrule.protocols import LanguageModel
from chainrule.storage.json_text import json_text
from chainrule.storage.tensors import save_tensors
from chainrule.text.encoded import encode
from chainrule.text.tokenizer import spelled

WRITTEN = 64  # tokens for the speed of writing, one text at a time
SAMPLED = 60  # tokens of each sample
LIKELIEST = 5
STEPS = 3000  # tokens of a passage whose likeliest successors are recorded


def measure(run: Any, held_out: Any, task: Mapping[str, Any]) -> None:
    """Writes the losses, then the facts: a trial with a facts file is finished."""
    tokenizer, model = run.tokenizer, run.offering(LanguageModel, "compare")
    encoded = encode(held_out, tokenizer, run.recipe.text)
    log_p = token_log_probs(model, encoded.ids, encoded.ends, pad=tokenizer.end)
    documents = texts(held_out)
    ends = places(tokenizer, encoded, documents)
    unknown = 0 if tokenizer.unknown is None else int((np.asarray(encoded.ids) == tokenizer.unknown).sum())
    lossless = ends is not None and unknown == 0
    whole = lossless and encoded.units == len(documents)  # a unit is a document
    arrays = {"bits": bits(log_p)} | ({"ends": ends} if ends is not None and lossless else {
        "unit_ends": np.asarray(encoded.ends), "unit_bytes": np.asarray(encoded.bytes)})
    result = Path(task["result"])
    save_tensors(result.with_suffix(".safetensors.partial"), arrays)
    result.with_suffix(".safetensors.partial").replace(result.with_suffix(".safetensors"))
    facts = {
        "identity": task["identity"], "lossless": lossless, "tokenizer": tokenizer.digest(), "unknown": unknown,
        "ids": hashlib.sha256(np.asarray(encoded.ids, np.int32).tobytes()).hexdigest(),
        "impossible": int(np.isinf(log_p).sum()), "vocabulary": tokenizer.vocabulary_size,
        "generation_tokens_per_second": writing_speed(model, tokenizer),
        "samples": [_sample(model, tokenizer, prompt, seed) for seed, prompt in enumerate(task["prompts"])],
        "passages": passages(model, tokenizer, encoded, task["passages"]) if whole else [],
    }
    write(result, facts)


def write(path: Path, facts: Mapping[str, Any]) -> None:
    """Writes a JSON file atomically."""
    partial = path.with_suffix(f"{path.suffix}.partial")
    partial.write_text(json_text(facts, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def writing_speed(model: Any, tokenizer: Any) -> float:
    """Tokens per second, one text at a time, after one text as a warm-up."""
    generate(model, tokenizer, max_tokens=2)
    written, began, seed = 0, time.perf_counter(), 0
    while written < WRITTEN:
        text = generate(model, tokenizer, max_tokens=WRITTEN - written, strategy={"name": "sample", "seed": seed})[0]
        written, seed = written + len(text.ids), seed + 1
    return written / (time.perf_counter() - began)


def _sample(model: Any, tokenizer: Any, prompt: str, seed: int) -> str:
    """Each prompt has a seed of its own: where a model makes nothing of the prompt, one seed gives the same text."""
    found = generate(model, tokenizer, prompt, max_tokens=SAMPLED, strategy={"name": "sample", "seed": seed},
                     filters=[{"name": "temperature", "temperature": 0.8}])
    return found[0].text


def passages(model: Any, tokenizer: Any, encoded: Any, wanted: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """For the beginning of each document asked for: where its tokens begin, and what the model thought likeliest.

    `wanted` has (number of the document, bytes of it). All passages are read in one batch.
    """
    units = [encoded.unit(document) for document, _ in wanted]
    lengths_V = byte_lengths(tokenizer)
    starts = [np.cumsum(lengths_V[unit]) - lengths_V[unit] for unit in units]
    counts = [min(STEPS, int(np.searchsorted(begin, size))) for begin, (_, size) in zip(starts, wanted, strict=True)]
    likeliest = _likeliest(model, units, counts, tokenizer.end)
    return [{"document": document, "starts": begin[:count].tolist(),
             "top": [[[spelled(tokenizer, int(i)), round(float(p), 4)] for i, p in zip(*each, strict=True)]
                     for each in found]}
            for (document, _), begin, count, found in zip(wanted, starts, counts, likeliest, strict=True)]


def _likeliest(model: Any, units: Sequence[np.ndarray], counts: Sequence[int], end: int
               ) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """For each unit and step: ids and probabilities of the likeliest tokens before that token is read."""
    if not units:
        return []
    state = model.start(len(units))
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in units]
    for step in range(max(counts)):
        log_p_BV = to_numpy(model.log_probs(state))
        best_BK = np.argsort(-log_p_BV, axis=1, kind="stable")[:, :LIKELIEST]
        for row, own in enumerate(found):
            if step < counts[row]:
                own.append((best_BK[row], np.exp(log_p_BV[row, best_BK[row]])))
        ids = [int(unit[step]) if step < counts[row] else end for row, unit in enumerate(units)]
        state = model.advance(state, np.array(ids, np.int32))
    return found
