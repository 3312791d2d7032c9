"""`chainrule generate`: a run goes on from a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.console import Json, emit, say


def generate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    prompt: Annotated[str, typer.Option(help="What the text begins with; nothing lets the model begin.")] = "",
    num: Annotated[int, typer.Option(help="How many texts.")] = 1,
    max_tokens: Annotated[int, typer.Option(help="The most tokens of a text.")] = 100,
    temperature: Annotated[float | None, typer.Option(help="Below 1 likelier, above 1 wilder; 0 is greedy.")] = None,
    top_k: Annotated[int | None, typer.Option(help="Only the k likeliest tokens.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Only the likeliest tokens that sum to p.")] = None,
    min_p: Annotated[float | None, typer.Option(help="Only tokens at least this share as likely as the best.")] = None,
    repetition_penalty: Annotated[float | None, typer.Option(help="Above 1 repeats less; 1.2 is usual.")] = None,
    beams: Annotated[int | None, typer.Option(help="Search for the likeliest texts with so many beams.")] = None,
    length_penalty: Annotated[float | None, typer.Option(help="0 favors short texts, 1 long ones; else 0.6.")] = None,
    stop: Annotated[list[str] | None, typer.Option(help="End before this text; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same texts; else 0.")] = None,
    json: Json = False,
) -> None:
    """Write texts that go on from a prompt.

    Examples:

        chainrule generate runs/ptb5 --prompt "the company" --num 3 --seed 1
        chainrule generate runs/ptb5 --prompt "the company" --temperature 0.8 --top-p 0.95
        chainrule generate runs/ptb5 --prompt "the company" --beams 8 --num 2
    """
    from chainrule.generation.generate import generate as write
    from chainrule.generation.generate import readable_prompt, unseen_words
    from chainrule.runs import load

    strategy = _strategy(temperature, beams, length_penalty, seed)
    filters = [{"name": name, option: value} for name, option, value in (
        ("repetition_penalty", "penalty", repetition_penalty), ("temperature", "temperature", temperature or None),
        ("top_k", "k", top_k), ("top_p", "p", top_p), ("min_p", "share", min_p)) if value is not None]
    loaded = load(run)
    if unseen := unseen_words(loaded.tokenizer, prompt):
        say(f"the model never saw {', '.join(map(repr, unseen))}; it reads an unknown word instead.")
    texts = write(loaded.model, loaded.tokenizer, prompt, num=num, max_tokens=max_tokens, strategy=strategy,
                  filters=filters, stop=stop or ())
    shown = readable_prompt(loaded.tokenizer, prompt)
    found = [{"text": text.text, "reason": text.reason, "log_prob": text.log_prob, "ids": text.ids,
              "tokens": [loaded.tokenizer.token(id) for id in text.ids]} for text in texts]
    emit({"run": str(run), "prompt": shown, "texts": found}, json, _show)


def _strategy(temperature: float | None, beams: int | None, length_penalty: float | None, seed: int | None
              ) -> dict[str, Any]:
    """The one that the options ask for; those that then do nothing are named."""
    if beams is None and length_penalty is not None:
        say("--length-penalty does nothing without --beams.")
    if (beams is not None or temperature == 0) and seed is not None:
        say("--seed does nothing here: nothing is drawn at random.")
    if beams is not None:
        penalty = {} if length_penalty is None else {"length_penalty": length_penalty}
        return {"name": "beam", "beams": beams, **penalty}
    return {"name": "greedy"} if temperature == 0 else {"name": "sample", "seed": seed or 0}


def _show(found: dict[str, Any]) -> None:
    texts = [found["prompt"] + text["text"] for text in found["texts"]]
    print(("\n\n" if any("\n" in text for text in texts) else "\n").join(texts))
