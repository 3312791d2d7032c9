"""What `chainrule inspect --text` does: inspect, write the page, print the most important results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.outputs import check_out
from chainrule.cli.terminal.piped import as_file, is_text, named, text_as_file
from chainrule.errors import UsageError
from chainrule.recipe.overrides import is_override

NOTHING = "there is nothing to look at. Try --text FILE, --text-is \"some words\", --gradients, --graph or --map."
MOST_ROWS = 40  # tokens in the table; --json and the page have all
PLACES = 5  # most surprising places whose likeliest tokens are printed
BEFORE = 6  # tokens shown before such a place
SIGNS = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍"})
TAKES, OF = ("--text", "--text-is", "--tokens", "--top", "--figure"), "a language model"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    what, text_is = asked.what, asked.text_is
    if len(asked.things) == 1 and asked.text is None and text_is is None and is_text(asked.things[0]):
        what, text_is = [asked.run, *asked.overrides], asked.things[0]
    if (asked.text is None) == (text_is is None):
        raise UsageError(NOTHING if asked.text is None else "--text and --text-is are both given, expected one of "
                         "them.")
    if asked.figure is not None and (asked.out is None or asked.out.suffix == ".html"):
        raise UsageError(f"--figure = {asked.figure!r} needs --out FILE.svg or FILE.png; a page has all figures.")
    show_text(what, asked.text, text_is, tokens=asked.tokens or 256, top=asked.top or 5, out=asked.out,
              figure=asked.figure, json=asked.json)



def show_text(what: Sequence[str], text: str | None, text_is: str | None, *, tokens: int, top: int, out: Path | None,
              figure: str | None, json: bool) -> None:
    """One run, one text."""
    if out is not None:
        check_out(out)
    runs = [word for word in what if not is_override(word)]
    if len(runs) != 1 or what[0] != runs[0]:
        raise UsageError(f"{len(runs)} runs are named, expected one before the changes: a text is looked at through "
                         "one model.")
    found = _looked(runs[0], what[1:], text, text_is, tokens, top)
    for sentence in found["said"]:
        say(sentence)
    if out is not None:
        _write(found, out, figure)
        say(f"wrote {out}.")
    emit(found, json, _headline if out is not None else _show)


def _write(found: Mapping[str, Any], out: Path, figure: str | None) -> None:
    """The page, or the figures one below the other, or one of them."""
    title = f"{found['run']} reads {found['text']}"
    if out.suffix == ".html":
        from chainrule.pages.page import write_page

        write_page(out, view="inspect", title=title, data=found)
        return
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import write_figure
    from chainrule.inspection.pictures import chosen, pictures

    write_figure(out, stacked(chosen(pictures(found), figure), title))


def _looked(run: str, overrides: Sequence[str], text: str | None, text_is: str | None, tokens: int, top: int
            ) -> dict[str, Any]:
    from chainrule.inspection.inspect_text import inspect
    from chainrule.runs import load

    loaded = load(run)
    name = "the given text" if text is None else named(text)
    reading: AbstractContextManager[str] = as_file(text) if text is not None else text_as_file(text_is or "", name)
    with reading as file:
        return inspect(loaded, file, tokens=tokens, top=top, overrides=overrides) | {"run": run, "text": name}


def _headline(found: Mapping[str, Any]) -> None:
    totals, units = found["totals"], found["units"]
    print(f"{found['run']} ({found['family']} over {found['tokenizer']}) reads {found['text']}: "
          f"{totals['tokens']:,} tokens in {units:,} {found['unit']}{'s' if units != 1 else ''}")
    if totals["impossible"]:
        print(f"{totals['impossible']:,} tokens are impossible for this model, so the text has no perplexity.")
    else:
        print(f"{totals['bits_per_token']:.3f} bits a token, where the model expected {totals['entropy']:.3f}; "
              f"perplexity {totals['perplexity']:,.2f}")


def _show(found: Mapping[str, Any]) -> None:
    _headline(found)
    print()
    tokens = found["tokens"]
    headers: list[str] = ["token", "bits", "rank"]
    cells: list[list[Any]] = [[_seen(each["text"]), _bits(each), each["rank"]] for each in tokens]
    for header, column in _columns(found):
        headers.append(header)
        cells = [[*row, cell] for row, cell in zip(cells, column, strict=True)]
    table(headers, cells[:MOST_ROWS])
    if len(cells) > MOST_ROWS:
        print(f"… and {len(cells) - MOST_ROWS:,} more; --json and --out have all.")
    print("\nThe most surprising places, and what was likeliest there:")
    table(["bits", "after", "came", "likeliest"], list(_surprises(found)))
    if any("layers" in model for model in found["models"]):
        print("\nAttention, layers, positions and neighbors are drawn with --out FILE.html; --json has their numbers.")


def _columns(found: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """For a mixture each member's share of every token, for an n-gram the order and the back-off path."""
    own = found["models"][0]
    if "members" in own:
        return [("shares of members", _shares(found))]
    if "backoff" not in own:
        return []
    rows, between = own["backoff"]["tokens"], " " if found["spaced"] else ""
    return [("order", [row["order"] for row in rows]),
            ("path", [_path(row, token["text"], between) for row, token in zip(rows, found["tokens"], strict=True)])]


def _path(row: Mapping[str, Any], token: str, between: str) -> str:
    """`γ(on a) 0.31 · γ(a) 0.12 · p(log) 0.0042`; contexts that the table does not have cost nothing."""
    left = [f"γ({_spelled(step['context'], between)}) {step['weight']:.3g}"
            for step in row["left"] if step["weight"] is not None]
    given = f"|{_spelled(row['context'], between)}" if row["context"] else ""
    return " · ".join([*left, f"p({_seen(token)}{given}) {row['stored']:.3g}"])


def _shares(found: Mapping[str, Any]) -> list[str]:
    """λ_m p_m / Σ_k λ_k p_k: each member's share of a token's probability."""
    import numpy as np

    members = found["models"][0]["members"]
    with np.errstate(divide="ignore", invalid="ignore"):
        part_MT = np.log(members["weights"])[:, None] + np.asarray(members["log_probs"], float)
        share_MT = np.exp(part_MT - np.logaddexp.reduce(part_MT, axis=0))
    return ["  ".join("–" if np.isnan(share) else f"{share:.2f}" for share in column) for column in share_MT.T]


def _surprises(found: Mapping[str, Any]) -> list[list[Any]]:
    tokens, between = found["tokens"], " " if found["spaced"] else ""
    hardest = sorted(range(len(tokens)), key=lambda n: -tokens[n]["surprisal"])[:PLACES]
    rows = []
    for n in hardest:
        first = next(k for k in range(n + 1) if tokens[k]["unit"] == tokens[n]["unit"])
        before = [each["text"] for each in tokens[max(first, n - BEFORE):n]]
        after = _spelled([*(["…"] if n - BEFORE > first else []), *before] or ["<s>"], between)
        top = ", ".join(f"{_seen(each['text'])} {each['probability']:.3g}" for each in tokens[n]["top"])
        rows.append([_bits(tokens[n]), after, _seen(tokens[n]["text"]), top])
    return rows


def _bits(token: Mapping[str, Any]) -> float:
    return round(token["surprisal"], 2)


def _spelled(words: Sequence[str], between: str) -> str:
    """Words with their spaces, pieces as they are; line ends as signs."""
    return " ".join(map(_seen, words)) if between else _seen("".join(words))


def _seen(text: str) -> str:
    """Spaces and line ends as signs, so that a token that is only a space can be seen."""
    return text.translate(SIGNS)
