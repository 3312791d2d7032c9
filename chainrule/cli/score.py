"""`chainrule score`: log-probabilities of the lines of a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit
from chainrule.cli.terminal.piped import as_file_or_text, named, texts_and_options
from chainrule.errors import DataError

if TYPE_CHECKING:
    from chainrule.evaluation.score import ScoredLines
    from chainrule.protocols import Tokenizer
    from chainrule.runs import LoadedRun
    from chainrule.text.options import TextOptions


def score(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE|TEXT", help="A file, compressed or not, or a pipe; - is standard "
                                        "input. If there is no such file: the text itself.")],
    overrides: Annotated[list[str] | None, typer.Argument(metavar="[TEXT|OPTION]...", help="Further texts; how text is "
                                                          "read, as text.errors=replace.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="Also each token by itself.")] = False,
    json: Json = False,
) -> None:
    """Print the log-probability of each line of a text, on its own.

    Columns are the line's number, ln p with its end mark, tokens (the end mark is one) and unknown tokens; with
    --tokens its number, the token and ln p. Of a masked language model, ln p of a token is after all others of its
    line: their sum is the pseudo-log-likelihood.

    Examples:

        chainrule score runs/ptb5 sentences.txt
        chainrule score runs/ptb5 "the company said"
        echo "the company said" | chainrule score runs/ptb5 - --tokens
    """
    from chainrule.runs import load

    file, changes = texts_and_options(file, overrides or ())
    loaded = load(run)
    tokenizer, batches = loaded.tokenizer, _batches(loaded, file, loaded.text_options(changes))
    if json:
        lines = [row for first, batch in batches for row in _rows(first, batch, tokenizer, tokens)]
        emit({"run": str(run), "total": _total(lines), "lines": lines}, json, print)
        return
    for first, batch in batches:  # one text for many lines: printing them one by one takes longer than scoring them
        print(_token_rows(first, batch, tokenizer) if tokens else _line_rows(first, batch, tokenizer), end="")


def _batches(loaded: LoadedRun, file: str, text: TextOptions) -> Iterator[tuple[int, ScoredLines]]:
    """Many lines at a time, and the number of the first of them."""
    from chainrule.evaluation.score import score_text, whole_lines
    from chainrule.text.corpora import open_corpus
    from chainrule.verbs.score import scoring

    model, first = scoring(loaded), 1
    with as_file_or_text(file) as name:
        for lines in whole_lines(open_corpus(name, text)):
            scored = score_text(model, loaded.tokenizer, lines)
            yield first, scored
            first += len(scored.stops)
    if first == 1:
        raise DataError(f"{named(file)}: there is no line to score; it is empty.")


def _line_rows(first: int, scored: ScoredLines, tokenizer: Tokenizer) -> str:
    columns = (range(first, first + len(scored.stops)), scored.log_prob.tolist(), scored.tokens.tolist(),
               scored.times(tokenizer.unknown).tolist())
    return "%d\t%.6f\t%d\t%d\n" * len(scored.stops) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _token_rows(first: int, scored: ScoredLines, tokenizer: Tokenizer) -> str:
    return "".join(f"{number}\t{tokenizer.token(id)}\t{log_prob:.6f}\n"
                   for number, line in enumerate(scored.each(), first)
                   for id, log_prob in zip(line.ids.tolist(), line.log_probs.tolist(), strict=True))


def _rows(first: int, scored: ScoredLines, tokenizer: Tokenizer, tokens: bool) -> Iterator[dict[str, Any]]:
    """The lines as --json prints them."""
    columns = (scored.log_prob.tolist(), scored.tokens.tolist(), scored.times(tokenizer.unknown).tolist())
    lines = scored.each() if tokens else repeat(None, len(scored.stops))
    for number, (log_prob, count, unknown, line) in enumerate(zip(*columns, lines, strict=True), first):
        row: dict[str, Any] = {"line": number, "log_prob": log_prob, "tokens": count, "unknown": unknown}
        if line is not None:
            spellings = map(tokenizer.token, line.ids.tolist())
            row["token_log_probs"] = list(zip(spellings, line.log_probs.tolist(), strict=True))
        yield row


def _total(lines: list[dict[str, Any]]) -> dict[str, Any]:
    log_prob, tokens = (sum(line[key] for line in lines) for key in ("log_prob", "tokens"))
    perplexity = math.exp(-log_prob / tokens) if log_prob > -math.inf else math.inf
    return {"lines": len(lines), "log_prob": log_prob, "tokens": tokens, "unknown": sum(x["unknown"] for x in lines),
            "perplexity": perplexity}
