"""`chainrule score`: log-probabilities of the lines of a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit
from chainrule.cli.terminal.piped import as_file_or_text, named
from chainrule.errors import DataError

if TYPE_CHECKING:
    from chainrule.runs import LoadedRun
    from chainrule.text.options import TextOptions


def score(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE|TEXT", help="A file, compressed or not, or a pipe; - is standard "
                                        "input. If there is no such file: the text itself.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="How text is read, as text.errors=replace.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="Also each token by itself.")] = False,
    json: Json = False,
) -> None:
    """Print the log-probability of each line of a text, on its own.

    Columns are the line's number, ln p with its end mark, tokens (the end mark is one) and unknown tokens; with
    --tokens its number, the token and ln p.

    Examples:

        chainrule score runs/ptb5 sentences.txt
        chainrule score runs/ptb5 "the company said"
        echo "the company said" | chainrule score runs/ptb5 - --tokens
    """
    from chainrule.runs import load

    loaded = load(run)
    rows = _rows(loaded, file, tokens, loaded.text_options(overrides or ()))
    if json:
        lines = list(rows)
        emit({"run": str(run), "total": _total(lines), "lines": lines}, json, print)
        return
    for row in rows:
        if tokens:
            for spelling, log_prob in row["token_log_probs"]:
                print(row["line"], spelling, f"{log_prob:.6f}", sep="\t")
        else:
            print(row["line"], f"{row['log_prob']:.6f}", row["tokens"], row["unknown"], sep="\t")


def _rows(loaded: LoadedRun, file: str, tokens: bool, text: TextOptions) -> Iterator[dict[str, Any]]:
    from chainrule.evaluation.score import score as score_lines
    from chainrule.protocols import LanguageModel

    model, tokenizer, number = loaded.offering(LanguageModel, "score"), loaded.tokenizer, 0
    for batch in _lines(file, text):
        for scored in score_lines(model, tokenizer, batch):
            number += 1
            row: dict[str, Any] = {"line": number, "log_prob": scored.log_prob, "tokens": len(scored.ids),
                   "unknown": 0 if tokenizer.unknown is None else int((scored.ids == tokenizer.unknown).sum())}
            if tokens:
                spellings = map(tokenizer.token, scored.ids.tolist())
                row["token_log_probs"] = list(zip(spellings, scored.log_probs.tolist(), strict=True))
            yield row
    if number == 0:
        raise DataError(f"{named(file)}: there is no line to score; it is empty.")


def _lines(file: str, text: TextOptions) -> Iterator[list[str]]:
    from chainrule.evaluation.score import lines_of
    from chainrule.text.corpora import open_corpus

    with as_file_or_text(file) as name:
        yield from lines_of(open_corpus(name, text))


def _total(lines: list[dict[str, Any]]) -> dict[str, Any]:
    log_prob, tokens = (sum(line[key] for line in lines) for key in ("log_prob", "tokens"))
    perplexity = math.exp(-log_prob / tokens) if log_prob > -math.inf else math.inf
    return {"lines": len(lines), "log_prob": log_prob, "tokens": tokens, "unknown": sum(x["unknown"] for x in lines),
            "perplexity": perplexity}
