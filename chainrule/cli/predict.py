"""`chainrule predict RUN FILE`: the likeliest labels of texts, images or recordings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder with a classifier.")],
    file: Annotated[str, typer.Argument(metavar="FILE|TEXT", help="Texts: one a line, or a table; - is standard input. "
                                        "If there is no such file: the text itself. Of a classifier of images or "
                                        "recordings: a file, a folder or a table.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[TEXT|FILE|OPTION]...", help="Further texts, or "
                                                          "files; how text is read, as text.errors=replace.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many labels for each text.")] = 1,
    threshold: Annotated[str, typer.Option(metavar="P|auto", help="Leave out labels with a smaller probability; a text "
                                           "without any is out of scope. auto: calibrated in training.")] = "0",
    json: Json = False,
) -> None:
    """Name the likeliest labels of each text, image or recording, with their probabilities.

    Labels in the file are ignored. What is labeled is what the run has learned to label: texts, images or recordings.

    Examples:

        chainrule predict runs/topics news.txt --top 3
        chainrule predict runs/topics "heavy rain tonight" "a late goal"
        chainrule predict runs/topics "my cat is ill" --threshold auto
        echo "a dull film" | chainrule predict runs/reviews - --json
        chainrule predict runs/digits three.png more/ --top 2
        chainrule predict runs/spoken call.wav
    """
    from chainrule.classifying.measuring import threshold_of
    from chainrule.protocols import Classifier
    from chainrule.runs import load, task_of

    loaded = load(run)
    model: Any = loaded.offering(Classifier, "predict")
    modality = task_of(loaded).modality
    read = _files if modality.endings else _texts
    names, found = read(loaded, [file, *(overrides or ())], modality)
    least = threshold_of(loaded, threshold)
    best = model.predict([each.text for each in found], top=top, threshold=least)
    key = modality.called if modality.endings else "line"
    rows = [{key: os.fsdecode(each.text) if modality.endings else each.line,
             "labels": [{"label": label, "probability": p} for label, p in own]}
            for each, own in zip(found, best, strict=True)]
    emit({"run": str(run), "file": names, "threshold": least, modality.plural: rows}, json,
         lambda data: _show(data, modality.plural, key))


def _texts(run: Any, words: list[str], modality: Any) -> tuple[str, list[Any]]:
    """Texts of one file, or texts as arguments."""
    from chainrule.cli.terminal.piped import as_file_or_text, named, texts_and_options
    from chainrule.inputs.labeled import examples, layout_of
    from chainrule.text.corpora import open_corpus

    file, changes = texts_and_options(words[0], words[1:])
    recipe = run.reading_text_as(changes).recipe
    with as_file_or_text(file) as name:
        return named(file), list(examples(open_corpus(name, recipe.text).sources, layout_of(recipe), need_labels=False))


def _files(run: Any, words: list[str], modality: Any) -> tuple[str, list[Any]]:
    """Files, folders and tables of what is read from files."""
    from chainrule.cli.terminal.piped import OPTION
    from chainrule.inputs.files import open_files

    names = [word for word in words if not OPTION.match(word)]
    recipe = run.reading_text_as([word for word in words if OPTION.match(word)]).recipe
    return ", ".join(names), list(open_files(names, recipe, modality, need_labels=False).rows)


def _show(found: dict[str, Any], rows_of: str, key: str) -> None:
    """A row for each text: its line, then labels with their probabilities, as many as passed the threshold."""
    from chainrule.classifying.report import OUTSIDE

    rows = [(row[key], [cell for each in row["labels"] for cell in (each["label"], f"{each['probability']:.4f}")]
             or [OUTSIDE, f"< {found['threshold']:.4f}"]) for row in found[rows_of]]
    most = max((len(cells) for _, cells in rows), default=2)
    table([key, *["label", "probability"] * (most // 2)],
          [(line, *cells, *[""] * (most - len(cells))) for line, cells in rows])
