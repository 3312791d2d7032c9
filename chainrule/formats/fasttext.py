"""fastText's models (.bin): words, character n-grams and output vectors; or a text classifier (also .ftz)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.formats._text_classifiers import export_classifier, import_classifier
from chainrule.formats._word_vectors import exported, facts, import_tensors
from chainrule.protocols import Classifier
from chainrule.recipe.registry import part
from chainrule.runs import LoadedRun
from chainrule.storage.files import opened
from chainrule.vectors.files.fasttext_layout import CBOW, END, LOSSES, MAGIC, SKIPGRAM, SUPERVISED, FastTextModel
from chainrule.vectors.files.fasttext_read import read_fasttext
from chainrule.vectors.files.fasttext_write import write_fasttext


@part
class FastText:
    """fastText's models of words (.bin), whose n-grams give unseen words a vector, or of texts (.bin, .ftz)."""

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By its first four bytes."""
        try:
            with opened(path) as stream:
                return stream.read(4) == MAGIC.to_bytes(4, "little")
        except DataError:
            return False

    def export(self, run: LoadedRun, path: Path) -> dict[str, Any]:
        if isinstance(run.model, Classifier):
            return export_classifier(run, path)
        from chainrule.families.vectors import WEIGHTS
        from chainrule.storage.tensors import open_tensors

        vectors = exported(run, "fasttext")
        tensors = open_tensors(run.path / WEIGHTS)
        size = vectors.table.shape
        outputs = tensors.get("outputs")
        tables = {**tensors, "words": tensors.get("words", vectors.table),
                  "outputs": outputs if outputs is not None and outputs.shape == size else np.zeros(size, np.float32)}
        counts = np.ones(size[0], np.int64) if vectors.counts is None else np.asarray(vectors.counts)
        settings, sample = _settings(run, tensors, counts)
        write_fasttext(path, settings, sample, vectors.words, counts, tables)
        return facts(vectors)

    def import_run(self, path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
        if _is_classifier(path):
            return import_classifier(path, out, replace=replace)
        model = read_fasttext(path)
        return import_tensors(path, out, tensors_of(model), model.words, sections=_sections(model), replace=replace)


def _is_classifier(path: Path) -> bool:
    with opened(path) as stream:
        head = stream.read(40)
    return len(head) == 40 and int.from_bytes(head[36:], "little") == SUPERVISED


def _settings(run: LoadedRun, tensors: dict[str, np.ndarray], counts: np.ndarray) -> tuple[dict[str, int], float]:
    recipe: Any = run.recipe
    method, training = recipe.model.method, recipe.training
    loss = {name: number for number, name in LOSSES.items()}[method.get("loss", "negative_sampling")]
    model = CBOW if "cbow" in (method["name"], method.get("predicts")) else SKIPGRAM
    shortest, longest, bucket = tensors["shape"].tolist() if "grams" in tensors else (0, 0, 0)
    least = min(recipe.tokenizer.get("min_count", 1), int(counts.min()))
    return {"dimension": run.model.dimension, "window": recipe.model.window, "epochs": training.epochs or 0,
            "min_count": least, "negative": method.get("negative", 5), "word_ngrams": 1, "loss": loss, "model": model,
            "bucket": bucket, "min_n": shortest, "max_n": longest, "update_rate": 100}, training.sample or 0.0


def _sections(model: FastTextModel) -> dict[str, Any]:
    """The recipe, as far as the file says it."""
    known = model.settings
    predicts = "cbow" if known["model"] == CBOW else "skipgram"
    method: dict[str, Any] = {"name": predicts, "loss": LOSSES[known["loss"]], "negative": max(1, known["negative"])}
    if known["max_n"]:
        method |= {"name": "fasttext", "predicts": predicts, "min_n": max(1, known["min_n"]), "max_n": known["max_n"],
                   "bucket": known["bucket"]}
    return {"tokenizer": {"name": "words", "min_count": max(1, known["min_count"])},
            "model": {"dimension": known["dimension"], "window": max(1, known["window"]), "method": method},
            "training": {"epochs": known["epochs"] if known["epochs"] > 0 else None, "sample": max(0.0, model.sample)}}


def tensors_of(model: FastTextModel) -> dict[str, np.ndarray]:
    """What the family saves: composed vectors, the rows that they are means of, and the outputs."""
    words, grams = model.inputs[: len(model.words)], model.inputs[len(model.words) :]
    found = {"vectors": words, "counts": model.counts}
    if model.settings["loss"] != 1:  # the tree of hierarchical softmax may be another here
        found["outputs"] = model.outputs
    if not model.settings["max_n"]:
        return found
    used = np.flatnonzero(grams.any(1))  # fastText begins at random numbers, so that only our own files have zeros
    return {**found, "vectors": composed(model), "words": words, "buckets": used,
            "grams": grams if len(used) == len(grams) else grams[used], "shape": np.array(model.shape, np.int64)}


def composed(model: FastTextModel) -> np.ndarray:
    """(V, D): the mean of each word's own row and those of its n-grams; the word </s> has none."""
    from chainrule.vectors.methods.fasttext import means
    from chainrule.vectors.subwords import all_buckets
    from chainrule.vectors.windows import Bags

    plain = [b"" if name == END else name for name in model.names]
    hashed, sizes = all_buckets(plain, *model.shape)
    if END in model.names:  # what "<>" gave
        row = model.names.index(END)
        first = int(sizes[:row].sum())
        hashed, sizes[row] = np.delete(hashed, slice(first, first + sizes[row])), 0
    starts = np.concatenate([[0], np.cumsum(1 + sizes)]).astype(np.int64)
    own = np.zeros(int(starts[-1]), bool)
    own[starts[:-1]] = True
    members = np.empty(len(own), np.int32)
    members[own], members[~own] = np.arange(len(sizes)), len(sizes) + hashed
    return means(Bags(starts, members, len(model.inputs)), model.inputs, len(sizes))
