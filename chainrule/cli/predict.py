"""`chainrule predict RUN FILE`: the likeliest labels of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder with a text classifier.")],
    file: Annotated[str, typer.Argument(metavar="FILE|TEXT", help="Texts: one a line, or a table; - is standard input. "
                                        "If there is no such file: the text itself.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[TEXT|OPTION]...", help="Further texts; how text is "
                                                          "read, as text.errors=replace.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many labels for each text.")] = 1,
    threshold: Annotated[str, typer.Option(metavar="P|auto", help="Leave out labels with a smaller probability; a text "
                                           "without any is out of scope. auto: calibrated in training.")] = "0",
    json: Json = False,
) -> None:
    """Name the likeliest labels of each text, with their probabilities.

    Labels in the file are ignored.

    Examples:

        chainrule predict runs/topics news.txt --top 3
        chainrule predict runs/topics "heavy rain tonight" "a late goal"
        chainrule predict runs/topics "my cat is ill" --threshold auto
        echo "a dull film" | chainrule predict runs/reviews - --json
    """
    from chainrule.classifying.labeled import examples, layout_of
    from chainrule.classifying.measuring import threshold_of
    from chainrule.cli.terminal.piped import as_file_or_text, named, texts_and_options
    from chainrule.protocols import Classifier
    from chainrule.runs import load
    from chainrule.text.corpora import open_corpus

    file, changes = texts_and_options(file, overrides or ())
    loaded = load(run).reading_text_as(changes)
    model: Any = loaded.offering(Classifier, "predict")
    recipe: Any = loaded.recipe
    least = threshold_of(loaded, threshold)
    with as_file_or_text(file) as name:
        layout = layout_of(recipe.text, recipe.model.labels)
        found = list(examples(open_corpus(name, recipe.text).sources, layout, need_labels=False))
    best = model.predict([each.text for each in found], top=top, threshold=least)
    rows = [{"line": each.line, "labels": [{"label": label, "probability": p} for label, p in own]}
            for each, own in zip(found, best, strict=True)]
    emit({"run": str(run), "file": named(file), "threshold": least, "texts": rows}, json, _show)


def _show(found: dict[str, Any]) -> None:
    """A row for each text: its line, then labels with their probabilities, as many as passed the threshold."""
    rows = [(row["line"], [cell for each in row["labels"] for cell in (each["label"], f"{each['probability']:.4f}")]
             or ["(out of scope)", f"< {found['threshold']:.4f}"]) for row in found["texts"]]
    most = max((len(cells) for _, cells in rows), default=2)
    table(["line", *["label", "probability"] * (most // 2)],
          [(line, *cells, *[""] * (most - len(cells))) for line, cells in rows])
