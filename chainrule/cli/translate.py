"""`chainrule translate`: sources in, targets out, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def translate(
    run: Annotated[Path, typer.Argument(help="The run folder of a translator, or of another model with sources.")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT|FILE]...", help="Texts, or one file with a source "
                                                      "a line; standard input if not given.")] = None,
    beams: Annotated[int, typer.Option(min=1, help="Of beam search; 1 is greedy.")] = 5,
    num: Annotated[int, typer.Option(min=1, help="How many targets of each source: the n best.")] = 1,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="The most tokens of a target.")] = None,
    length_penalty: Annotated[float, typer.Option(help="0 favors short targets, 1 long ones.")] = 0.6,
    coverage_penalty: Annotated[float, typer.Option(help="Above 0 favors targets that look at all of the source; 0.2 "
                                                    "is usual.")] = 0.0,
    scores: Annotated[bool, typer.Option("--scores", help="Score and ln p before each target.")] = False,
    alignments: Annotated[bool, typer.Option("--alignments", help="After each target, which of its tokens looked at "
                                             "which of the source, as i-j pairs from 0.")] = False,
    json: Json = False,
) -> None:
    """Translate texts, line by line: an empty line stays empty.

    Also for headlines and captions: any run whose model has sources. Of captions, the arguments are image files.

    Examples:

        chainrule translate runs/m "A man rides a bicycle." "Two dogs play."
        chainrule translate runs/m < test.en > out.de
        chainrule translate runs/m test.en --beams 10 --num 3 --scores
        chainrule translate runs/m "A man sleeps." --alignments --json
    """
    from chainrule.cli.terminal.sources import sources_of
    from chainrule.runs import load
    from chainrule.verbs.translate import translate as best

    loaded = load(run)
    rows = []
    for sources in sources_of(loaded, texts or []):
        found = best(loaded, sources, beams=beams, num=num, max_tokens=max_tokens, length_penalty=length_penalty,
                     coverage_penalty=coverage_penalty)
        for source, own in zip(sources, found, strict=True):
            row = {"source": source, "targets": [_described(loaded, source, each, alignments) for each in own]}
            if json:
                rows.append(row)
            else:
                _show(row, scores)
    if json:
        emit({"run": str(run), "beams": beams, "sources": rows}, json, _show)


def _described(run: Any, source: str, target: Any, alignments: bool) -> dict[str, Any]:
    found = {"text": target.text, "score": target.score, "log_prob": target.log_prob}
    if not alignments:
        return found
    aligned = run.model.align(source, target.text)
    if aligned is None:
        return found | {"alignment": None}
    best = aligned.weights.argmax(axis=1).tolist()
    return found | {"alignment": {"source": aligned.source, "target": aligned.target,
                                  "pairs": [[s, t] for t, s in enumerate(best)]}}


def _show(row: dict[str, Any], scores: bool = False) -> None:
    for target in row["targets"] or [{"text": ""}]:
        parts = [f"{target['score']:.4f}", f"{target['log_prob']:.4f}"] if scores and "score" in target else []
        if "alignment" in target:
            pairs = (target["alignment"] or {"pairs": []})["pairs"]
            print("\t".join([*parts, target["text"], " ".join(f"{s}-{t}" for s, t in pairs)]), flush=True)
        else:
            print("\t".join([*parts, target["text"]]), flush=True)
