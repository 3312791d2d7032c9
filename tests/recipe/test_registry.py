"""Parts are found by folder, listed without importing, and built only with options they have."""

import subprocess
import sys
from pathlib import Path

import plugins
import pytest

from chainrule.errors import UsageError
from chainrule.recipe.problems import Problems
from chainrule.recipe.registry import build, find, kinds, names, options, summary

ROOT = Path(__file__).parents[2]
KIND = "generation/filters"
SOURCE = '''
"""A file with one part."""

from typing import Literal

from chainrule.recipe.registry import part


@part
class Sharpen:
    """Makes likely tokens likelier.

    p ∝ p^power
    """

    def __init__(self, width: int, *, power: float, how: Literal["sum", "mean"] = "sum", order: int = 1,
                 pair: tuple[int, int] = (1, 2), limit: int | None = None, sizes: list[int] | None = None):
        self.options = dict(width=width, power=power, how=how, order=order, pair=pair, limit=limit, sizes=sizes)


class NotThisOne:
    """Not marked."""
'''


@pytest.fixture(autouse=True)
def _sharpen(tmp_path):
    with plugins.part(tmp_path, "filters", "sharpen", SOURCE) as file:
        file.with_name("_hidden.py").write_text("", encoding="utf-8")
        yield


def test_a_folder_that_is_added_is_listed():
    assert "sharpen" in names(KIND) and "_hidden" not in names(KIND)


def test_listing_and_summaries_import_no_part():
    assert summary(KIND, "sharpen") == "Makes likely tokens likelier."
    assert not [name for name in sys.modules if name.endswith(".sharpen")]


def test_every_summary_of_every_kind_is_read_without_importing_a_part():
    code = ("import sys; from chainrule.recipe.registry import kinds, names, summary\n"
            "print(all(summary(kind, name) for kind in kinds() for name in names(kind)))\n"
            "parts = [f'chainrule.{kind}.{name}'.replace('/', '.') for kind in kinds() for name in names(kind)]\n"
            "print([part for part in parts if part in sys.modules])\n"
            "print([m for m in ('torch', 'numba', 'tokenizers', 'pydantic') if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.stdout.split("\n")[:3] == ["True", "[]", "[]"], done


def test_kinds_are_the_folders_with_a_parts_line():
    assert {"families", "text/tokenizers", "counting/smoothing", KIND} <= set(kinds())
    assert "cli" not in kinds()


def test_a_part_is_built_from_its_options():
    made = build(KIND, {"name": "sharpen", "power": 2, "pair": [3, 4], "sizes": [1], "how": "mean"}, 7)
    assert made.options == {"width": 7, "power": 2, "how": "mean", "order": 1, "pair": (3, 4), "limit": None,
                            "sizes": [1]}


def test_the_marked_class_is_the_part_and_only_keyword_parameters_are_options():
    assert find(KIND, "sharpen").__name__ == "Sharpen"
    assert list(options(KIND, "sharpen")) == ["power", "how", "order", "pair", "limit", "sizes"]


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(Problems) as caught:
        build(KIND, {"name": "sharpen", "pwr": 2, "how": "max", "order": "x", "pair": [1], "limit": True,
                     "sizes": [0.5]}, 7)
    assert str(caught.value).split("\n") == [
        "no option sharpen.pwr. Did you mean 'power'?",
        "sharpen.how = 'max', expected one of 'sum', 'mean'.",
        "sharpen.order = 'x', expected a whole number.",
        "sharpen.pair = [1], expected a list of 2 whole numbers.",
        "sharpen.limit = True, expected a whole number or None.",
        "sharpen.sizes = [0.5], expected a list of whole numbers or None.",
        "sharpen.power is missing, and has no default.",
    ]


@pytest.mark.parametrize(("choice", "words"), [("sharpn", "no filter named 'sharpn'. Did you mean 'sharpen'?"),
                                               ({"power": 2}, r"name is missing. Known: .*sharpen")])
def test_an_unknown_part_gets_a_suggestion(choice, words):
    with pytest.raises(UsageError, match=words):
        build(KIND, choice)


@pytest.mark.parametrize("ask", [names, lambda kind: find(kind, "x"), lambda kind: summary(kind, "x")])
def test_an_unknown_kind_gets_a_suggestion(ask):
    with pytest.raises(UsageError, match="no kind of part named 'generation/filtrs'. Did you mean '.*/filters'"):
        ask("generation/filtrs")


def test_a_part_that_is_not_there_has_no_summary():
    with pytest.raises(UsageError, match="no filter named 'sharpn'. Did you mean 'sharpen'?"):
        summary(KIND, "sharpn")
