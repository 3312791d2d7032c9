"""`chainrule fill`: a masked language model guesses what stands in the gaps of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table


def fill(
    run: Annotated[Path, typer.Argument(help="The run folder of a masked language model.")],
    text: Annotated[str, typer.Argument(help="A text with [MASK] in the place of each token to be guessed.")],
    top: Annotated[int, typer.Option(min=1, help="How many of the likeliest tokens are shown for each gap.")] = 5,
    json: Json = False,
) -> None:
    """Guess what stands in the gaps of a text, from what stands on both sides of them.

    Each [MASK] stands for one token of the run's tokenizer: a word, a piece of one, or a character. A run that was
    trained to write spans (t5-small) may write several tokens into a gap; its probability is that of all gaps together.

    Examples:

        chainrule fill runs/masked "The [MASK] sat on the mat"
        chainrule fill runs/masked "The [MASK] sat on the [MASK]" --top 3 --json
    """
    from chainrule.verbs.fill import fill as guess

    found = guess(run, text, top=top)
    gaps = [[{"token": token, "probability": probability} for token, probability in each] for each in found]
    emit({"run": str(run), "text": text, "gaps": gaps}, json, _show)


def _show(found: dict[str, Any]) -> None:
    several = len(found["gaps"]) > 1
    rows = [(*((number,) if several else ()), f"{each['probability']:.4f}", _visible(each["token"]))
            for number, gap in enumerate(found["gaps"], start=1) for each in gap]
    table([*(["gap"] if several else []), "probability", "token"], rows)


def _visible(token: str) -> str:
    """White space, and nothing at all, in quotes."""
    return token if token.strip() else repr(token)
