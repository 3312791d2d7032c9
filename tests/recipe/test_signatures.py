"""What a part's file says of its options is what Python says when it is imported; nothing heavy is imported for it."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from chainrule.recipe.registry import find, kinds, names, options
from chainrule.recipe.signatures import MISSING, Option, declared

ROOT = Path(__file__).parents[2]
PARTS = [(kind, name) for kind in kinds() for name in names(kind)]
HEAVY = ("parts/", "training/")  # kinds whose files import torch


def by_import(kind, name):
    make = find(kind, name)
    hints = get_type_hints(make.__init__ if inspect.isclass(make) else make, include_extras=True)
    marks = {key: getattr(hint, "__metadata__", (hint,))[0] for key, hint in hints.items()}
    return {key: Option(MISSING if each.default is each.empty else each.default, marks.get(key, Any))
            for key, each in inspect.signature(make).parameters.items() if each.kind is each.KEYWORD_ONLY}


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=lambda word: word)
def test_options_read_from_the_source_equal_those_of_the_import(kind, name):
    if kind.startswith(HEAVY):
        pytest.importorskip("torch")
        assert declared(ROOT / "chainrule" / kind / f"{name}.py") is not None, "torch would be imported for it"
    assert list(options(kind, name).items()) == list(by_import(kind, name).items())


@pytest.mark.parametrize("source", [
    "@part\nclass A(Unknown):\n    pass\n",
    "@part\n@dataclass\nclass A:\n    x: int = 1\n",
    "@part\nclass A:\n    def __init__(self, *, x: Unknown = 1):\n        pass\n",
    "@part\nclass A:\n    def __init__(self, *, x: int = made()):\n        pass\n",
    "class A:\n    pass\n",
])
def test_options_that_the_source_does_not_show_are_not_guessed(tmp_path, source):
    (tmp_path / "a.py").write_text(source)
    assert declared(tmp_path / "a.py") is None


def test_names_and_bases_of_the_same_file_are_followed(tmp_path):
    (tmp_path / "b.py").write_text(
        'Choice = Literal["a", "b"]\nMOST = 5\n\n\nclass Base:\n    def __init__(self, width, *, pick: Choice = "a", '
        "most: int | None = MOST, pair: tuple[int, ...] = (1, 2), free: float):\n        pass\n\n\n"
        "@part\nclass B(Base):\n    pass\n")
    found = declared(tmp_path / "b.py")
    assert {key: option.default for key, option in found.items()} == {"pick": "a", "most": 5, "pair": (1, 2),
                                                                      "free": MISSING}
    assert found["most"].hint == int | None
    assert found["pair"].hint == tuple[int, ...]


def test_no_recipe_imports_torch():
    code = ("import sys\nfrom chainrule.recipe.recipe import load_recipe, shipped\n"
            "found = [load_recipe(name).family for name in shipped()]\n"
            "assert 'neural' in found\nprint('torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.stdout == "False\n", done.stderr
