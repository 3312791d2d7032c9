"""`chainrule neighbors RUN WORD`: the words that are most alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table


def neighbors(
    run: Annotated[Path, typer.Argument(help="A run folder with word vectors.")],
    words: Annotated[list[str], typer.Argument(help="Words; several are added up.")],
    minus: Annotated[list[str] | None, typer.Option(help="A word to take away; repeatable.")] = None,
    topn: Annotated[int, typer.Option(min=1, help="How many neighbors.")] = 10,
    restrict_vocab: Annotated[int | None, typer.Option(min=1, help="Search only so many most frequent words.")] = None,
    json: Json = False,
) -> None:
    """List the words nearest to a word, by the cosine of their vectors.

    A word without a vector is looked for in other cases too, and a phrase as one word: New York, new_york.

    Examples:

        chainrule neighbors runs/vectors king
        chainrule neighbors runs/vectors king woman --minus man --topn 3
    """
    from chainrule.protocols import WordVectors
    from chainrule.runs import load

    vectors = load(run).offering(WordVectors, "neighbors")
    taken, away = ([vectors.spelling(word) for word in some] for some in (words, minus or []))
    found = vectors.most_similar(taken, away, topn=topn, restrict_vocab=restrict_vocab)
    rows = [{"word": word, "cosine": cosine} for word, cosine in found]
    emit({"run": str(run), "words": taken, "minus": away, "neighbors": rows}, json, show)


def show(found: dict[str, Any]) -> None:
    """A table of words and cosines."""
    table(["word", "cosine"], [(row["word"], f"{row['cosine']:.4f}") for row in found["neighbors"]])
