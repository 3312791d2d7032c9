"""What `chainrule inspect` does with a text classifier: explain texts, show confusions, write the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.piped import as_file, named
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

FEATURES, PAIRS = 12, 8  # rows printed; --json and the page have more
NOTHING = ('there is nothing to look at. Give a text, as in chainrule inspect RUN "a fine film", or labeled texts with '
           "--data FILE.")
TAKES, OF = ("--text", "--text-is", "--top"), "a classifier"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    if asked.out is not None and asked.out.suffix != ".html":
        raise UsageError(f"--out = {str(asked.out)!r}, expected a name that ends in .html.")
    show_decisions(asked.run, asked.texts, asked.overrides, data=asked.text, top=asked.top or 5, out=asked.out,
                   json=asked.json)



def show_decisions(run: str, texts: Sequence[str], overrides: Sequence[str], *, data: str | None, top: int,
                   out: Path | None, json: bool) -> None:
    """Texts given as arguments, labeled texts of a file, or both."""
    from chainrule.inspection.confusions import confusions
    from chainrule.inspection.decisions import explain
    from chainrule.runs import load

    if not texts and data is None:
        raise UsageError(NOTHING)
    with shown_steps("reading"):
        loaded = load(run).reading_text_as(overrides)
        found: dict[str, Any] = explain(loaded, texts, top=top) | {"run": run}
        if data is not None:
            with as_file(data) as file:
                found["labeled"] = confusions(loaded, file) | {"data": named(data)}
    if out is not None:
        from chainrule.pages.page import write_page

        write_page(out, view="decisions", title=f"Why {run} says so", data=found)
        say(f"wrote {out}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    for number, each in enumerate(found["texts"]):
        print(end="\n" if number else "")
        _show_text(each)
    if "labeled" in found:
        print(end="\n" if found["texts"] else "")
        show_confusions(found["labeled"])


def _show_text(each: dict[str, Any]) -> None:
    labels = ", ".join(f"{own['label']} {own['probability']:.4f}" for own in each["labels"])
    print(f"{each['text']}\n{labels}\n")
    headers = ["word", "ln p lost without it"]
    headers += [f"{each['label']} rather than {each['runner_up']}"] if each["features"] else []
    table(headers, [(token["text"], _change(token["without"]), _change(token["adds"]))[: len(headers)]
                    for token in [*each["tokens"], *_end(each)]])
    if each["evidence"] not in (None, "exact"):
        print(f"\nThe last column is {each['evidence']}: shares of a difference of {each['margin']:+.3f}, to first "
              "order.")
    elif each["features"] and any(row["kind"] != "word" for row in each["features"]):
        print(f"\nThe weightiest features, of a difference of {each['margin']:+.3f}:")
        table(["feature", "kind", "adds"], [(row["text"], row["kind"], _change(row["adds"]))
                                            for row in each["features"][:FEATURES]])
    if not each["features"] and each["runner_up"] is not None:
        print("\nWhat each feature adds is not known: this model's probabilities are not sums over features.")


def _end(each: dict[str, Any]) -> list[dict[str, Any]]:
    """The end of the text is a feature too: with it the column adds up to the difference of the two labels."""
    return [] if each["end"] is None else [{"text": "(end)", "without": None, "adds": each["end"]}]


def show_confusions(found: dict[str, Any]) -> None:
    """Which labels were confused, and the inputs that the model is most wrong about."""
    units = found["units"]
    print(f"{found['data']}: {found['right']:,} of {found['texts']:,} {units} right ({found['accuracy']:.4f})\n")
    if not found["pairs"]:
        return
    table(["true label", "given label", units], [(row["true"], row["given"], row["count"])
                                                  for row in found["pairs"][:PAIRS]])
    print(f"\nThe {units} whose own label was least likely:")
    table(["line", "true", "given", "ln p", units.removesuffix("s")],
          [(row["line"], ", ".join(row["labels"]), f"{row['given']} {row['probability']:.3f}",
            "never seen" if row["log_probability"] is None else f"{row['log_probability']:.2f}", _short(row["text"]))
           for row in found["wrong"]])


def _change(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"
