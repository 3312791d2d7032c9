"""`chainrule generate`: texts that continue a prompt; music and pictures too, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit


def generate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    prompt: Annotated[str, typer.Option(help="The beginning of the text; empty if not given. Of music: a file, or a "
                                        "piece of JSON, as chorales.json:test#3; of images: one, whose upper "
                                        "half counts.")] = "",
    prompt_length: Annotated[int | None, typer.Option(min=1, help="Only so many steps of a file that is the prompt.")
                             ] = None,
    num: Annotated[int, typer.Option(help="How many texts.")] = 1,
    max_tokens: Annotated[int, typer.Option(help="The most tokens of a text; of a piano roll, its steps.")] = 100,
    temperature: Annotated[float | None, typer.Option(help="Below 1 likelier, above 1 wilder; 0 is greedy.")] = None,
    top_k: Annotated[int | None, typer.Option(help="Only the k likeliest tokens.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Only the likeliest tokens that sum to p.")] = None,
    min_p: Annotated[float | None, typer.Option(help="Only tokens at least this share as likely as the best.")] = None,
    repetition_penalty: Annotated[float | None, typer.Option(help="Above 1 repeats less; 1.2 is usual.")] = None,
    beams: Annotated[int | None, typer.Option(help="Search for the likeliest texts with so many beams.")] = None,
    length_penalty: Annotated[float | None, typer.Option(help="0 favors short texts, 1 long ones; else 0.6.")] = None,
    stop: Annotated[list[str] | None, typer.Option(help="End before this text; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same texts; else 0.")] = None,
    out: Annotated[Path | None, typer.Option(help="Of runs that write no text: the file, as song.mid or song.svg; of "
                                             "several song-1.mid, song-2.mid …")] = None,
    json: Json = False,
) -> None:
    """Write texts that continue a prompt.

    Examples:

        chainrule generate runs/ptb5 --prompt "the company" --num 3 --seed 1
        chainrule generate runs/ptb5 --prompt "the company" --temperature 0.8 --top-p 0.95
        chainrule generate runs/ptb5 --prompt "the company" --beams 8 --num 2
        chainrule generate runs/music --prompt chorales.json:test#3 --prompt-length 16 --out song.mid
        chainrule generate runs/digits --num 16 --out digits.png
    """
    from chainrule.generation.generate import readable_prompt
    from chainrule.runs import opened
    from chainrule.verbs.generate import Sampling, check_out, read_prompt, write_files
    from chainrule.verbs.generate import generate as write

    sampling = Sampling(seed=seed, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p,
                        repetition_penalty=repetition_penalty, beams=beams, length_penalty=length_penalty)
    loaded = opened(run, to_write=True)
    if out is not None:
        check_out(loaded, out)
    begin = read_prompt(loaded, prompt, prompt_length)
    texts = write(loaded, begin, num=num, max_tokens=max_tokens, stop=stop or (), sampling=sampling)
    found = [{"text": text.text, "reason": text.reason, "log_prob": text.log_prob, "ids": text.ids,
              "tokens": [] if loaded.tokenizer is None else [loaded.tokenizer.token(id) for id in text.ids]}
             for text in texts]
    files = {} if out is None else {"files": [str(path) for path in write_files(loaded, begin, texts, out)]}
    read = begin if loaded.tokenizer is None else readable_prompt(loaded.tokenizer, begin)
    emit({"run": str(run), "prompt": read, "texts": found, **files}, json, _show)


def _show(found: dict[str, Any]) -> None:
    if "files" in found:
        print("\n".join(found["files"]))
        return
    texts = [found["prompt"] + text["text"] for text in found["texts"]]
    print(("\n\n" if any("\n" in text for text in texts) else "\n").join(texts))
