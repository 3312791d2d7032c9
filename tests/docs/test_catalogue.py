"""The catalogue of parts is what their docstrings say, and a recipe takes what it shows."""

import catalogue
import pytest

from chainrule.recipe.papers import paper
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import names, options
from chainrule.recipe.signatures import MISSING

PARTS = [(kind, name) for kind in catalogue.KINDS for name in names(kind)]


def test_the_page_is_up_to_date():
    assert catalogue.PAGE.read_text(encoding="utf-8") == catalogue.page(), "run: python tests/docs/catalogue.py"


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_recipe_takes_what_the_catalogue_shows(kind, name):
    missing = [key for key, each in options(kind, name).items() if each.default is MISSING]
    if not missing:
        load_recipe("transformer", catalogue.fragment(kind, name).split())
    else:
        assert (kind, name, missing) == ("parts/embeddings", "word_vectors", ["vectors"])


def test_papers_are_found_in_docstrings():
    assert paper("parts/attention", "relative") == "Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155"
    assert paper("parts/mixers", "elman") == "Elman 1990" and paper("parts/norms", "none") == ""
