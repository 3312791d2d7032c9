"""Text classifiers to and from fastText's files: what a run says of one, and what an imported one is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.classifying.fasttext_files import read_classifier
from chainrule.classifying.fasttext_writing import write_classifier
from chainrule.classifying.quantizing import QuantizedRows
from chainrule.families.text_classifier import label_counts, write
from chainrule.recipe.recipe import make_recipe
from chainrule.runs import LoadedRun, save_run
from chainrule.vectors.text import listed


def export_classifier(run: LoadedRun, path: Path) -> dict[str, Any]:
    """Writes the file; facts for the report."""
    recipe: Any = run.recipe
    model = run.model
    write_classifier(path, model, label_counts(run.path), recipe.task["prefix"], recipe.training.epochs)
    return {"labels": len(model.labels), "vocabulary": len(model.features.words), "dimension": model.outputs.shape[1]}


def import_classifier(path: Path, out: Path, *, replace: bool) -> dict[str, Any]:
    """A run of a file's classifier; its recipe says what the file says."""
    found = read_classifier(path)
    model, known = found.model, found.settings
    shape = model.features.shape
    recipe = make_recipe({
        "family": "text_classifier", "tokenizer": {"name": "words", "min_count": max(1, known["min_count"])},
        "description": f"Imported from {path.name}: trained elsewhere, not by this recipe.",
        "model": {"dimension": known["dimension"], "word_ngrams": shape.word_ngrams, "min_n": shape.min_n,
                  "max_n": shape.max_n, "bucket": shape.bucket, "loss": model.loss,
                  "negative": max(1, known["negative"]), "quantized": isinstance(model.inputs, QuantizedRows)},
        "training": {"epochs": max(1, known["epochs"])}})
    report = {"family": "text_classifier", "imported": path.name, "labels": len(model.labels),
              "vocabulary": len(model.features.words), "ngrams": len(model.features.used)}
    save_run(out, lambda folder: write(folder, model, found.counts), recipe=recipe,
             tokenizer=listed(list(model.features.words)), report=report, replace=replace)
    return report
