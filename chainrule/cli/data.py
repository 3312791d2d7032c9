"""`chainrule data`: a look at a text before training on it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, say, table

data = typer.Typer(help="Look at a text before training on it.")


@data.callback()
def _data() -> None:
    """Look at a text before training on it."""


@data.command("check")
def check(
    spec: Annotated[list[str], typer.Argument(metavar="SPEC...", help="Paths, globs, folders or built-in names.")],
    field: Annotated[str, typer.Option(help="The field or column with the text (JSON, tables).")] = "text",
    errors: Annotated[str, typer.Option(help="Bytes that are not UTF-8: strict or replace.")] = "strict",
    format: Annotated[str, typer.Option(help="txt, jsonl, csv, tsv, conllu, parquet or fasta, whatever "
                                       "the ending.")] = "auto",
    json: Json = False,
) -> None:
    """Show how much text there is, what is unusual about it, and what to train on it first.

    Examples:

        chainrule data check pydoc
        chainrule data check 'news/*.jsonl.gz' --field body --json
        zcat news.gz | chainrule data check - --format jsonl
    """
    from contextlib import nullcontext
    from typing import get_args

    from chainrule.classifying.noticing import labeled_facts
    from chainrule.cli.terminal.piped import as_file
    from chainrule.errors import OptionError
    from chainrule.text.check import check as facts
    from chainrule.text.options import TextOptions

    if errors not in ("strict", "replace"):
        raise OptionError("--errors", errors, "strict or replace")
    if format not in (known := get_args(TextOptions.model_fields["format"].annotation)):
        raise OptionError("--format", format, f"one of {', '.join(known)}")
    options = TextOptions(field=field, errors=errors, format=format)  # type: ignore[arg-type]
    with as_file(spec[0]) if spec == ["-"] else nullcontext(spec[0] if len(spec) == 1 else spec) as data:
        found = facts(data, options)
        found["labeled"] = None if spec == ["-"] else labeled_facts(data, options)
    if spec == ["-"]:
        found = _of_standard_input(found, str(data))
    emit(found, json, _show)
    if found["problem"]:
        say(found["problem"])
        raise typer.Exit(1)


def _of_standard_input(found: dict[str, Any], path: str) -> dict[str, Any]:
    """The facts without the name of the file in which the text was kept while it was read."""
    for row in found["suggestions"]:
        row["command"] = row["command"].replace(path, "FILE")
    for look in found["looks_like"]:
        look["files"] = ["standard input"]
    problem = found["problem"] and found["problem"].replace(path, "standard input")
    return {**found, "corpus": "standard input", "problem": problem}


def _show(found: dict[str, Any]) -> None:
    import shutil
    import textwrap

    filled = max(1, found["lines"] - found["blank_lines"])
    about = "" if found["duplicates_are_exact"] else "about "
    print(textwrap.fill(found["corpus"], shutil.get_terminal_size().columns, break_long_words=False,
                        break_on_hyphens=False))  # outside of the table, whose first column would be as wide
    table(["encoding", found["encoding"]], [
        *((what.replace("_", " "), f"{found[what]:,}") for what in
          ("files", "bytes_on_disk", "bytes", "characters", "words", "lines", "documents")),
        ("longest line", f"{found['longest_line']:,} bytes"),
        ("blank lines", f"{found['blank_lines']:,} ({found['blank_lines'] / max(1, found['lines']):.1%})"),
        ("duplicate lines", f"{about}{found['duplicate_lines']:,} ({found['duplicate_lines'] / filled:.1%})"),
        *((what, f"{count:,}") for what, count in found["odd"].items()),
        *(("kind", what) for what in [found["kind_is"]] if what),
        *(("script", f"{script}, without spaces between words") for script in [found["unspaced_script"]] if script),
    ])
    for name, part in (found["labeled"] or {"parts": {}})["parts"].items():
        print(f"\nlabeled texts: {name}, {part['texts']:,} text{'s' * (part['texts'] != 1)}, "
              f"{part['labels']:,} label{'s' * (part['labels'] != 1)}", end="")
    if found["labeled"]:
        print(f"\n\nTo label texts:\n    {found['labeled']['suggestion']}")
    if found["suggestions"]:
        print("\nTo try:")
    for row in found["suggestions"]:
        print(f"  {row['what']}\n    {row['command']}")
