"""Parts outside the package are found: in folders that are named, and in other distributions by their entry points."""

import json
import os
import subprocess
import sys
from pathlib import Path

import plugins
import pytest

from chainrule.errors import UsageError
from chainrule.recipe.plugins import VARIABLE, add_plugins
from chainrule.recipe.registry import find, names

ROOT = Path(__file__).parents[2]
FILTER = '''
"""A filter of one's own."""

from chainrule.recipe.registry import part


@part
class Keep:
    """Keeps everything."""

    def __init__(self, *, share: float = 1.0):
        self.share = share
'''
QUESTIONS = '''
import json
from chainrule.recipe.registry import build, find, names, summary

found = build("generation/filters", {"name": "keep", "share": 0.5})
print(json.dumps({
    "filters": names("generation/filters"), "mixers": names("parts/mixers"), "families": names("families"),
    "summary": summary("parts/mixers", "running_mean"), "module": type(found).__module__, "share": found.share,
    "family": find("families", "unigrams").__module__}))
'''


def installed(folder):
    """A distribution as pip lays it down: parts of several kinds in one package, families in another."""
    plugins.written(folder / "their_parts", "filters", "keep", FILTER)
    plugins.written(folder / "their_parts", "parts/mixers", "running_mean", plugins.RUNNING_MEAN)
    plugins.written(folder, "their_families", "unigrams", plugins.UNIGRAMS)
    for package in ("their_parts", "their_families"):
        (folder / package / "__init__.py").write_text("")
    about = folder / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[chainrule.parts]\ntheirs = their_parts\n\n[chainrule.families]\ntheirs = their_families\n")


def asked(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})


def test_parts_of_another_distribution_are_found_by_its_entry_points(tmp_path):
    installed(tmp_path)
    done = asked(QUESTIONS, PYTHONPATH=os.pathsep.join([str(ROOT), str(tmp_path)]))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "keep" in found["filters"] and "running_mean" in found["mixers"] and "unigrams" in found["families"]
    assert found["summary"] == "The whole past, all of it alike."
    assert (found["module"], found["share"]) == ("their_parts.filters.keep", 0.5)
    assert found["family"] == "their_families.unigrams"
    assert not {"keep", "running_mean"} & set(found["families"]) and "unigrams" not in found["filters"]


def test_without_the_distribution_they_are_unknown():
    done = asked(QUESTIONS, PYTHONPATH=str(ROOT))
    assert done.returncode == 1 and "no filter named 'keep'" in done.stderr


@pytest.mark.parametrize("kind", ["filters", "generation/filters"])
def test_a_kind_is_named_by_its_last_word_or_whole(kind, tmp_path):
    with plugins.part(tmp_path, kind, "keep", FILTER):
        assert find("generation/filters", "keep").__name__ == "Keep"
    assert "keep" not in names("generation/filters")


def test_where_the_last_word_names_two_kinds_it_is_that_of_training(tmp_path):
    with plugins.part(tmp_path, "optimizers", "keep", FILTER):
        assert "keep" in names("training/optimizers") and "keep" not in names("engine/optimizers")
    with plugins.part(tmp_path / "own", "engine/optimizers", "keep", FILTER):
        assert "keep" in names("engine/optimizers") and "keep" not in names("training/optimizers")


def test_files_of_a_folder_share_code_by_relative_imports(tmp_path):
    (tmp_path / "filters").mkdir()
    (tmp_path / "filters" / "_shares.py").write_text("HALF = 0.5\n")
    with plugins.part(tmp_path, "filters", "keep", FILTER.replace("share: float = 1.0", "share: float = HALF").replace(
            "from chainrule", "from ._shares import HALF\nfrom chainrule")):
        assert find("generation/filters", "keep")().share == 0.5


def test_several_folders_are_handed_on_in_order_and_each_once(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two, one):
        folder.mkdir(exist_ok=True)
        add_plugins(folder)
    assert os.environ[VARIABLE].split(os.pathsep) == [str(one), str(two)]


def test_a_folder_that_is_not_there_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="--plugins .*nowhere: no such folder, expected one with subfolders such as"):
        add_plugins(tmp_path / "nowhere")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=f"{VARIABLE} names .*nowhere: no such folder. Correct it, or unset it."):
        names("generation/filters")
