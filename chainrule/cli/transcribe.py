"""`chainrule transcribe RUN FILE`: the text that is spoken in recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def transcribe(
    run: Annotated[Path, typer.Argument(help="The run folder of a transcriber.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Recordings (.wav), folders of them, or tables "
                                               "with a column of their paths.")],
    beams: Annotated[int, typer.Option(min=1, help="Of the search for the likeliest text; 1 takes the likeliest token "
                                       "at each time.")] = 1,
    num: Annotated[int, typer.Option(min=1, help="How many texts of each recording: the n best.")] = 1,
    scores: Annotated[bool, typer.Option("--scores", help="ln p before each text.")] = False,
    json: Json = False,
) -> None:
    """Write down what is said in recordings: a line for each of them.

    Where several are named, the file stands before its text. A recording at another rate, or with several channels, is
    resampled and mixed down first; a line says so.

    Examples:

        chainrule transcribe runs/digits call.wav
        chainrule transcribe runs/digits calls/*.wav --beams 10
        chainrule transcribe runs/digits table.csv --json
        chainrule transcribe runs/digits call.wav --beams 10 --num 3 --scores
    """
    import os

    from chainrule.inputs.files import open_files
    from chainrule.protocols import Transcriber
    from chainrule.runs import load, task_of

    loaded = load(run)
    model: Any = loaded.offering(Transcriber, "transcribe")
    rows = open_files(files, loaded.recipe, task_of(loaded).modality, need_labels=False).rows
    best = model.transcribe([each.text for each in rows], beams=max(beams, num))
    found = [{"recording": os.fsdecode(each.text), "text": own[0][0], "log_prob": own[0][1],
              "texts": [{"text": text, "log_prob": log_p} for text, log_p in own[:num]]}
             for each, own in zip(rows, best, strict=True)]
    emit({"run": str(run), "beams": max(beams, num), "recordings": found}, json, lambda data: _show(data, scores))


def _show(found: dict[str, Any], scores: bool) -> None:
    several = len(found["recordings"]) > 1
    for row in found["recordings"]:
        for each in row["texts"]:
            parts = [*([row["recording"]] if several else []), *([f"{each['log_prob']:.4f}"] if scores else [])]
            print("\t".join([*parts, each["text"]]), flush=True)
