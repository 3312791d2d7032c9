"""What `chainrule inspect` does with a tagger: tags of a text with their rivals, transitions, and what is confused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chainrule.cli.terminal.asked import Asked
from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.piped import as_file, named
from chainrule.cli.terminal.stepping import shown_steps
from chainrule.errors import UsageError

ROWS = 8  # of a table; --json has all
NOTHING = ('there is nothing to look at. Give a text, as in chainrule inspect RUN "The cows eat hay", or tagged '
           "sentences with --data FILE.")
TAKES, OF = ("--text", "--text-is", "--top"), "a tagger"


def look(asked: Asked) -> None:
    """What `inspect` shows of a run with this view."""
    show_tags(asked.run, asked.texts, asked.overrides, data=asked.text, top=asked.top or 5, out=asked.out,
              json=asked.json)



def show_tags(run: str, texts: Sequence[str], overrides: Sequence[str], *, data: str | None, top: int,
              out: Path | None, json: bool) -> None:
    """Texts given as arguments, tagged sentences of a file, or both."""
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import check_figure, write_figure
    from chainrule.inspection.tags import inspect_tags, tag_pictures
    from chainrule.runs import load

    if data is None and not any(text.strip() for text in texts):
        raise UsageError(NOTHING)
    if out is not None:
        check_figure(out)
    with shown_steps("reading"):
        loaded = load(run).reading_text_as(overrides)
        if data is None:
            found = inspect_tags(loaded, texts, top=top)
        else:
            with as_file(data) as file:
                found = inspect_tags(loaded, texts, data=file, top=top)
            found["labeled"]["data"] = named(data)
    found["run"] = run
    if out is not None:
        if not (pictures := tag_pictures(found)):
            raise UsageError(f"{run}: this tagger has no probabilities to draw. Add --data FILE for its confusions.")
        write_figure(out, stacked(pictures, f"What {run} tags"))
        say(f"wrote {out}.")
    emit(found, json, _show)


def _show(found: dict[str, Any]) -> None:
    for each in found["sentences"]:
        table(["word", "tag", "rivals", ""], [_word(own) for own in each["words"]])
        print()
    if "transitions" in found:
        _transitions(found["tags"], found["transitions"])
    if "labeled" in found:
        _labeled(found["labeled"])


def _word(own: dict[str, Any]) -> tuple[str, str, str, str]:
    chances = {each["tag"]: each["probability"] for each in own["top"]}
    chosen = f"{own['tag']} {chances[own['tag']]:.3f}" if own["tag"] in chances else own["tag"]
    others = ", ".join(f"{tag} {p:.3f}" for tag, p in chances.items() if tag != own["tag"] and p >= 0.001)
    return own["word"], chosen, others, _why(own)


def _why(own: dict[str, Any]) -> str:
    """Of an unknown word what its tag was guessed by, where the model says it."""
    if own["known"] is not False:
        return ""
    if "why" not in own:
        return "unknown word"
    why = own["why"]
    longest = why["endings"][-1]
    said = f"-{longest['ending']}" if longest["ending"] else "no known ending"
    chances = ", ".join(f"{tag} {p:.2f}" for tag, p in longest["tags"].items())
    also = f"; known as {why['other_spelling']}" if why["other_spelling"] else ""
    return f"unknown word, {said} ({longest['count']:,}×): {chances}{also}"


def _transitions(tags: Sequence[str], scores: Sequence[Sequence[float]]) -> None:
    pairs = sorted(((score, tags[a], tags[b]) for a, row in enumerate(scores) for b, score in enumerate(row)))
    print("Transitions, from one tag to the next, with the highest and the lowest scores:")
    best, least = pairs[::-1][:ROWS], pairs[:ROWS]
    table(["often", "score", "seldom", "score "],
          [(f"{one[1]} → {one[2]}", f"{one[0]:+.3f}", f"{other[1]} → {other[2]}", f"{other[0]:+.3f}")
           for one, other in zip(best, least, strict=True)])
    print()


def _labeled(found: dict[str, Any]) -> None:
    print(f"{found['data']}: {found['right']:,} of {found['words']:,} words right ({found['accuracy']:.4f})\n")
    if not found["pairs"]:
        return
    table(["true tag", "given tag", "words"], [(row["true"], row["given"], row["count"])
                                               for row in found["pairs"][:ROWS]])
    print("\nThe sentences with the most mistakes:")
    table(["line", "wrong", "mistakes", "sentence"],
          [(row["line"], row["errors"], _short(", ".join(row["mistakes"])), _short(row["text"]))
           for row in found["most_wrong"]])


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"
