"""`chainrule describe RUN IMAGE`: captions of images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def describe(
    run: Annotated[Path, typer.Argument(help="The run folder of a captioner.")],
    images: Annotated[list[str], typer.Argument(metavar="IMAGE...", help="Images, folders of them, or tables with a "
                                                "column of them.")],
    beams: Annotated[int, typer.Option(min=1, help="Of beam search; 1 is greedy.")] = 5,
    num: Annotated[int, typer.Option(min=1, help="How many captions of each image: the n best.")] = 1,
    scores: Annotated[bool, typer.Option("--scores", help="ln p before each caption.")] = False,
    json: Json = False,
) -> None:
    """Say in words what images show: a caption for each of them.

    Where several are named, the file stands before its caption.

    Examples:

        chainrule describe runs/captions photo.jpg
        chainrule describe runs/captions holiday/*.jpg --num 3 --scores
        chainrule describe runs/captions photos.npy#7 --json
    """
    from chainrule.verbs.describe import describe as described

    found = [{"image": image, "captions": [{"text": each.text, "log_prob": each.log_prob, "score": each.score}
                                           for each in own]}
             for image, own in described(run, images, beams=beams, num=num).items()]
    emit({"run": str(run), "beams": beams, "images": found}, json, lambda data: _show(data, scores))


def _show(found: dict[str, Any], scores: bool) -> None:
    several = len(found["images"]) > 1
    for row in found["images"]:
        for each in row["captions"]:
            parts = [*([row["image"]] if several else []), *([f"{each['log_prob']:.4f}"] if scores else [])]
            print("\t".join([*parts, each["text"]]), flush=True)
