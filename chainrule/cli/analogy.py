"""`chainrule analogy RUN A B C`: A is to B as C is to what?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table


def analogy(
    run: Annotated[Path, typer.Argument(help="A run folder with word vectors.")],
    a: Annotated[str, typer.Argument(help="A word.")],
    b: Annotated[str, typer.Argument(help="What it is to this one …")],
    c: Annotated[str, typer.Argument(help="… this one is to the answer.")],
    method: Annotated[str, typer.Option(help="3CosAdd or 3CosMul.")] = "3CosAdd",
    topn: Annotated[int, typer.Option(min=1, help="How many answers.")] = 5,
    restrict_vocab: Annotated[int | None, typer.Option(min=1, help="Search only so many most frequent words.")] = None,
    json: Json = False,
) -> None:
    """Answer "a is to b as c is to …" with the nearest words.

    Examples:

        chainrule analogy runs/vectors man woman king
        chainrule analogy runs/vectors france paris england --method 3CosMul --json
    """
    from chainrule.protocols import WordVectors
    from chainrule.runs import load

    vectors = load(run).offering(WordVectors, "analogy")
    a, b, c = map(vectors.spelling, (a, b, c))
    found = vectors.analogy(a, b, c, topn=topn, restrict_vocab=restrict_vocab, method=method)
    rows = [{"word": word, "score": score} for word, score in found]
    emit({"run": str(run), "a": a, "b": b, "c": c, "method": method, "answers": rows}, json, _show)


def _show(found: dict[str, Any]) -> None:
    table(["word", "score"], [(row["word"], f"{row['score']:.4f}") for row in found["answers"]])
