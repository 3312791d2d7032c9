"""The command line: one file per verb, and only the file of the verb that is called is imported.

To add a verb, add `chainrule/cli/<verb>.py` and nothing else. The file defines a function with the file's name
(`def verify(...)` in verify.py; a trailing underscore is dropped: `import_.py` is `chainrule import`), or a
`typer.Typer(help="...")` with that name whose commands are the sub-verbs (`chainrule data check`). Files without
such a name are not verbs. The docstring's first line is the summary; it is read from the source, not imported.
Indented paragraphs of the docstring (examples) are printed as they stand. At its top a verb's file imports typer,
`chainrule.cli.terminal.console` and `chainrule.errors`; all else is imported inside the function. For example:

    def verify(run: Annotated[Path, typer.Argument(help="A run folder.")], json: Json = False) -> None:
        '''Check every file of a run folder against its manifest.

        Example:

            chainrule verify runs/ptb5
        '''
        from chainrule.storage import open_run
        ...
        emit(data, json, show)
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule import __version__
from chainrule.cli.terminal.exits import guarded
from chainrule.errors import UsageError, did_you_mean

FOLDER = Path(__file__).parent
INTRODUCTION = "Train, measure, sample and look inside sequence models, from n-grams to Transformers, on your own text."


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command and exits: 0 done, 1 failed, 2 bad usage, 130 interrupted."""
    args = list(sys.argv[1:] if argv is None else argv)
    sys.exit(guarded(lambda: _run(args)))


def _run(args: list[str]) -> Any:
    args = _with_plugins(args)
    return _application(_called(args))(args, prog_name="chainrule", standalone_mode=False)


def _with_plugins(args: Sequence[str]) -> list[str]:
    """The arguments without `--plugins FOLDER`, which may stand anywhere; the folders' parts are known from now on."""
    from chainrule.recipe import plugins

    rest: list[str] = []
    given = iter(args)
    for word in given:
        if word == "--plugins" or word.startswith("--plugins="):
            folder = word.partition("=")[2] if "=" in word else next(given, "")
            if not folder:
                raise UsageError("--plugins needs a folder, with subfolders such as mixers/ or attention/.")
            plugins.add_plugins(folder)
        elif word == "--":
            return [*rest, word, *given]
        else:
            rest.append(word)
    return rest


def verbs() -> dict[str, str]:
    """Every verb and its summary, read from the sources without importing any."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        text = _summary(path)
        if text is not None:
            found[_spelled(path.stem)] = text
    return found


def _only(called: str | None) -> dict[str, str]:
    """The verb that is called and its summary, if it is one: the others' files need not be read."""
    files = [path for path in FOLDER.glob("[!_]*.py") if _spelled(path.stem) == called]
    return {_spelled(path.stem): text for path in files if (text := _summary(path)) is not None}


def load(verb: str) -> Callable[..., Any] | typer.Typer:
    """The function or group of a verb: imports its file."""
    stem = next(path.stem for path in FOLDER.glob("*.py") if _spelled(path.stem) == verb)
    return getattr(importlib.import_module(f"chainrule.cli.{stem}"), stem)


def _application(called: str | None) -> typer.Typer:
    app = typer.Typer(add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=INTRODUCTION)(_root)
    known = {} if _completing() else _only(called)
    if not known:
        known = verbs()
    if called is not None and called not in known and not _completing():
        raise UsageError(f"no command named {called!r}.{did_you_mean(called, known)} Try 'chainrule --help'.")
    for verb, text in known.items():
        _add(app, verb, text, load(verb) if verb == called else _not_loaded)
    return app


def _add(app: typer.Typer, verb: str, text: str, body: Callable[..., Any] | typer.Typer) -> None:
    if isinstance(body, typer.Typer):
        body.rich_markup_mode = None
        for command in body.registered_commands:
            assert command.callback is not None
            command.help = laid_out(command.callback.__doc__)
        app.add_typer(body, name=verb, short_help=text)
    else:
        app.command(verb, short_help=text, help=laid_out(body.__doc__))(body)


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    plugins: Annotated[str | None, typer.Option(metavar="FOLDER", help="Parts of your own, in subfolders named as the "
                                                "kinds; may stand anywhere, and several times.")] = None,
) -> None:
    if version:
        print(f"chainrule {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        print(context.get_help())


def _not_loaded() -> None:
    raise AssertionError("only the called verb has a body")


def laid_out(docstring: str | None) -> str:
    """The docstring with Click's mark `\\b` before each indented paragraph, so that its lines are kept as they are."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(f"\b\n{p}" if p.startswith(" ") else p for p in paragraphs)


def _called(args: Sequence[str]) -> str | None:
    """The verb on the command line, or on the line that a shell asks us to complete."""
    if _completing():
        args = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()[1:]
    return next((word for word in args if not word.startswith("-")), None)


def _completing() -> bool:
    return "_CHAINRULE_COMPLETE" in os.environ


def _spelled(stem: str) -> str:
    return stem.rstrip("_").replace("_", "-")


def _summary(path: Path) -> str | None:
    """The first line of what the verb's function or group says of itself; None where the file is not a verb."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=path.stem):
                return (ast.get_docstring(node) or "").split("\n")[0]
            case ast.Assign(targets=[ast.Name(id=path.stem)], value=ast.Call(keywords=keywords)):
                texts = [ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "help"]
                return texts[0] if texts else ""
    return None
