"""doctor, parts, recipes and verify: what a person and a script get from each."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from chainrule import __version__
from chainrule.cli.app import main
from chainrule.recipe.recipe import load_recipe, shipped
from chainrule.recipe.registry import kinds, names
from chainrule.recipe.strict_yaml import load_yaml
from chainrule.storage import write_run


@dataclass(frozen=True)
class Done:
    """What a command printed and what it said."""

    stdout: str
    stderr: str


def chainrule(*args, code=0):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors, \
            pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    assert end.value.code == code, errors.getvalue()
    return Done(out.getvalue(), errors.getvalue())


def data(*args, code=0):
    lines = chainrule(*args, "--json", code=code).stdout.splitlines()
    assert len(lines) == 1
    return json.loads(lines[0])


@pytest.fixture
def run(tmp_path):
    def fill(folder):
        for name in ("recipe.yaml", "model.safetensors"):
            (folder / name).write_text(name, encoding="utf-8")
    return write_run(tmp_path / "run", fill)


def test_doctor_lists_what_is_installed():
    found = data("doctor")
    assert found["chainrule"] == __version__ and found["python"] == sys.version.split()[0]
    assert found["cache"]["folder"] == os.path.join(os.environ["XDG_CACHE_HOME"], "chainrule")
    assert found["disk_free"] > 0 and found["kernels"]["writable"] and set(found["missing"]) <= {"torch", "duckdb"}
    assert not set(found["missing"]) & set(found["packages"])


def test_doctor_says_what_a_missing_extra_would_add():
    shown = chainrule("doctor").stdout
    for name, gain in data("doctor")["missing"].items():
        assert f"missing: {name}" in shown
        assert f"would add {gain['adds']}; pip install 'chainrule[{gain['extra']}]'" in shown
    assert ["chainrule", __version__] in [line.split() for line in shown.splitlines()]


def test_parts_lists_every_kind():
    assert data("parts")["parts"].keys() == set(kinds())
    assert list(data("parts", "families")["parts"]["families"]) == names("families")
    assert all(name in chainrule("parts", "text/tokenizers").stdout for name in names("text/tokenizers"))


def test_recipes_lists_the_shipped_ones():
    found = data("recipes")["recipes"]
    assert list(found) == list(shipped()) and all(each["description"] for each in found.values())
    shown = chainrule("recipes").stdout
    assert all(name in shown for name in shipped())


def test_a_recipe_is_shown_resolved_and_changed():
    shown = chainrule("recipes", "ngram", "model.order=2").stdout
    assert load_yaml(shown)["model"]["order"] == 2 == data("recipes", "ngram", "model.order=2")["model"]["order"]
    assert shown == load_recipe("ngram", ["model.order=2"]).to_yaml()


def test_verify_says_that_a_run_is_valid(run):
    assert data("verify", run) == {"run": str(run), "valid": True, "files": 2, "bytes": 28, "problems": [], "extra": []}
    assert chainrule("verify", run).stdout == f"{run}: valid (2 files, 28 bytes)\n"


def test_verify_names_every_damaged_file_and_fails(run):
    for name in ("recipe.yaml", "model.safetensors"):
        (run / name).write_text(name.upper(), encoding="utf-8")
    (run / "notes.txt").write_text("mine", encoding="utf-8")
    found = data("verify", run, code=1)
    assert not found["valid"] and found["extra"] == ["notes.txt"]
    assert [f"run/{name}: SHA-256 differs" in text for name, text in
            zip(("model.safetensors", "recipe.yaml"), found["problems"], strict=True)] == [True, True]
    done = chainrule("verify", run, code=1)
    assert len(done.stderr.splitlines()) == 2
    assert done.stdout == f"not part of the run: notes.txt\n{run}: damaged: 2 of its files (2 files, 28 bytes)\n"


def test_verify_refuses_what_is_no_run(tmp_path):
    done = chainrule("verify", tmp_path, code=1)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1) and "no MANIFEST.json" in done.stderr
