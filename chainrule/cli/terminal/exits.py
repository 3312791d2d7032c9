"""How a command ends: every exception becomes one line on standard error and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from chainrule.cli.terminal.console import say, show_log_messages
from chainrule.cli.terminal.interrupts import Interrupts
from chainrule.errors import ChainruleError, UsageError, is_panic
from chainrule.recipe.plugins import is_from_plugin

INTERRUPTED = 130
PARSING_ERROR = typer.BadParameter.__mro__[2]  # ClickException; typer has moved it from the click package to its own


def guarded(command: Callable[[], Any]) -> int:
    """Runs a command and returns its exit code. Errors print one line, with CHAINRULE_DEBUG=1 also the traceback."""
    _open_streams()
    show_log_messages()
    Interrupts().listen()  # `kill` cleans up as Ctrl-C does
    try:
        code = command()
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer turns a KeyboardInterrupt into this code
            say("interrupted.")
        return int(code or 0)
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        if os.environ.get("CHAINRULE_DEBUG"):
            traceback.print_exc()
        code, line = explained(error)
        if line:
            say(line)
        if isinstance(error, OSError):
            _drop_output()
        return code


def _open_streams() -> None:
    """Replaces a stream that the caller closed (`2>&-`) by the null device, so that no file gets its output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (it stays open as long as the process)


def explained(error: BaseException) -> tuple[int, str]:
    """The exit code and the one line for an exception."""
    match error:
        case KeyboardInterrupt():
            return INTERRUPTED, "interrupted."
        case UsageError():
            return 2, str(error)
        case ChainruleError():
            return 1, str(error)
        case MemoryError():
            return 1, ("out of memory. Try less text, a smaller model (model.order, model.dimension, model.width), or "
                       "a bound such as model.memory=500M.")
        case BrokenPipeError():
            return 1, ""
        case OSError():
            return 1, _about_files(error)
        case typer.Abort():
            return INTERRUPTED, "interrupted."
    if isinstance(error, PARSING_ERROR):
        return 2, _about_usage(error)
    if is_panic(error):
        said = " ".join(str(error).split())
        return 1, f"a library that chainrule uses failed: {said}. CHAINRULE_DEBUG=1 shows where."
    return 1, _about_a_bug(error)


def _about_usage(error: Any) -> str:
    message = " ".join((_about_a_value(error) or error.format_message()).split())
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "chainrule"
    return f"{message.rstrip('.?')}{'?' if message.endswith('?') else '.'} Try '{command} --help'."


def _about_a_value(error: Any) -> str | None:
    """`--topn = 0, expected at least 1`, where newer versions of typer repeat what pydantic says of a value."""
    if not hasattr(error.__cause__, "errors") or getattr(error, "param", None) is None:
        return None
    from chainrule.recipe.wording import expected_in_words

    wrong, names = error.__cause__.errors()[0], error.param.opts
    where = max(names, key=len) if names[0].startswith("-") else str(error.param.name).upper()
    return f"{where} = {wrong['input']}, expected {expected_in_words(wrong)}"


def _about_files(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}no space left on the disk. Free some, or write somewhere else."
    return f"{where}{error.strerror or error}."


def _about_a_bug(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if own := [each for each in frames if is_from_plugin(each.filename)]:
        return (f"{own[-1].filename}, line {own[-1].lineno}, in {own[-1].name}: {type(error).__name__}: "
                f"{' '.join(str(error).split())}. `chainrule parts check` tests a part; CHAINRULE_DEBUG=1 shows the "
                "traceback.")
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = " ".join(str(error).split())
    return f"unexpected {type(error).__name__}{place}: {text} This is a bug; CHAINRULE_DEBUG=1 shows the traceback."


def _drop_output() -> None:
    """Standard output was closed or cannot be written: keeps Python from failing on it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
