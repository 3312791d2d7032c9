"""The command line is a contract: every command has help with an example, and --json."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from chainrule.cli.app import load, verbs

ROOT = Path(__file__).parents[2]


def commands():
    """Every command as it is typed: `verify`, `data check`."""
    for verb in verbs():
        body = load(verb)
        if isinstance(body, typer.Typer):
            yield from ((verb, command.name or command.callback.__name__) for command in body.registered_commands)
        else:
            yield (verb,)


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_help_has_a_sentence_an_example_and_json(command):
    done = subprocess.run([sys.executable, "-m", "chainrule", *command, "--help"], cwd=ROOT, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0 and not done.stderr
    spelled = " ".join(command)
    assert re.search(rf"^ {{4,}}chainrule {spelled}( |$)", done.stdout, re.MULTILINE), "no example on a line of its own"
    assert "--json" in done.stdout


@pytest.mark.parametrize("verb", list(verbs()))
def test_the_summary_is_a_sentence(verb):
    assert verbs()[verb].endswith(".") and verbs()[verb][0].isupper()
