"""The command line: verbs by folder, quick and light help, one clear line and the right exit code for every mistake."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chainrule import __version__
from chainrule.cli.app import laid_out, load, verbs

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "numba", "pydantic", "tokenizers", "numpy", "rich", "duckdb")


def chainrule(*args, **options):
    env = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run([sys.executable, "-m", "chainrule", *map(str, args)], text=True, timeout=600,
                          stdin=subprocess.DEVNULL, env=env, **{"capture_output": True, **options})


def cpu_seconds(*args):
    process = subprocess.Popen([sys.executable, "-m", "chainrule", *args], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_help_takes_less_than_a_third_of_a_second_of_cpu():
    assert min(cpu_seconds("--help") for _ in range(5)) < 0.3


def test_no_help_imports_anything_heavy():
    """Neither the list of verbs nor any verb's own help, for which typer itself may import pydantic."""
    code = f"""
import sys
from chainrule.cli.app import main, verbs
for args in [["--help"], *([verb, "--help"] for verb in verbs())]:
    try:
        main(args)
    except SystemExit as done:
        assert not done.code, args
    heavy = [name for name in {HEAVY} if name in sys.modules and not (name == "pydantic" and len(args) == 2)]
    assert not heavy, (args, heavy)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def test_help_lists_every_verb_with_its_summary():
    shown = " ".join(chainrule("--help").stdout.split())
    assert {"doctor", "parts", "recipes", "verify"} <= set(verbs())
    assert all(f"{verb} {text}" in shown for verb, text in verbs().items())


def test_without_a_verb_help_is_shown():
    assert chainrule().stdout == chainrule("--help").stdout


def test_files_without_a_verb_are_no_verbs():
    assert not {"app", "console", "exits"} & set(verbs())


def test_a_verb_may_be_spelled_like_a_keyword(tmp_path, monkeypatch):
    (tmp_path / "yield_.py").write_text('def yield_():\n    """Give way.\n\n    Slowly."""\n', encoding="utf-8")
    (tmp_path / "group.py").write_text('group = typer.Typer(help="Do this or that.")\n', encoding="utf-8")
    (tmp_path / "plain.py").write_text("def other(): ...\n", encoding="utf-8")
    monkeypatch.setattr("chainrule.cli.app.FOLDER", tmp_path)
    assert verbs() == {"group": "Do this or that.", "yield": "Give way."}


def test_every_verb_loads():
    assert all(load(verb) for verb in verbs())


def test_the_version_is_printed():
    assert chainrule("--version").stdout == f"chainrule {__version__}\n"


def test_indented_paragraphs_of_a_docstring_keep_their_lines():
    text = "One.\n\n    Two\n    lines.\n\n        chainrule x\n        chainrule y\n    "
    assert laid_out(text) == "One.\n\nTwo\nlines.\n\n\b\n    chainrule x\n    chainrule y"


@pytest.mark.parametrize(("args", "line"), [
    (["pars"], "no command named 'pars'. Did you mean 'parts'? Try 'chainrule --help'."),
    (["data"], "Missing command. Try 'chainrule data --help'."),
    (["parts", "--jsn"], "No such option: --jsn (Possible options: --json). Try 'chainrule parts --help'."),
    (["--nope"], "No such option: --nope. Try 'chainrule --help'."),
    (["verify"], "Missing argument 'run'. Try 'chainrule verify --help'."),
    (["recipes", "ngrm"], "no recipe named 'ngrm'. Did you mean 'ngram'? A file's name ends in .yaml."),
    (["parts", "familys"], "no kind of part named 'familys'. Did you mean 'families'?"),
])
def test_bad_usage_is_one_line_and_exit_code_2(args, line):
    done = chainrule(*args)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"chainrule: {line}\n")


def test_each_of_several_mistakes_is_a_line():
    done = chainrule("recipes", "ngram", "model.ordr=3", "sed=1")
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["chainrule: no option model.ordr. Did you mean 'order'?",
                                        "chainrule: no option sed. Did you mean 'seed'?"]


@pytest.mark.parametrize("shell", [
    {"_CHAINRULE_COMPLETE": "complete_bash", "COMP_WORDS": "chainrule verify --", "COMP_CWORD": "2"},
    {"_CHAINRULE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "chainrule verify --"}])
def test_shells_complete_the_options_of_a_verb(shell):
    assert "--json" in chainrule(env=shell).stdout


def test_shells_complete_verbs():
    shell = {"_CHAINRULE_COMPLETE": "complete_bash", "COMP_WORDS": "chainrule ver", "COMP_CWORD": "1"}
    assert chainrule(env=shell).stdout.split() == ["verify"]
