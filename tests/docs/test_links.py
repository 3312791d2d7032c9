"""What the documents point to exists: links, files, recipes, parts, options and verbs; and what exists is described."""

import inspect
import re

import pytest
from documents import DOCUMENTS, FENCE, ROOT, blocks

import chainrule
from chainrule.cli.app import verbs
from chainrule.recipe.recipe import load_recipe, shipped
from chainrule.recipe.registry import kinds, names

LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXTS = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
ALL = "\n".join(TEXTS.values())
SOUND = FENCE.sub(lambda block: "" if re.search("exit=|file=", block[2]) else block[0], ALL)  # without errors
SOUND = re.sub(r"^.*--plugins.*$", "", SOUND, flags=re.MULTILINE)  # and without plug-ins
GUIDES = "\n".join(text for path, text in TEXTS.items() if path.parent.name == "docs" or path.name == "README.md")
CHOICES = {"counting/smoothing": r"model\.smoothing(?:\.name)?=(\w+)", "text/tokenizers": r"tokenizer(?:\.name)?=(\w+)",
           "formats": r"--to (\w+)"}


def anchors(text):
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    for target in LINK.findall(TEXTS[path]):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), f"{path.name}: {target}"


def test_every_file_of_the_package_that_is_named_exists():
    named = set(re.findall(r"`((?:chainrule|tests|examples|benchmarks|docs)/[\w./]+\.\w+)`", ALL))
    assert named and not [name for name in named if not (ROOT / name).exists()]


def test_every_recipe_that_is_named_exists():
    named = set(re.findall(r"(?:chainrule (?:train|recipes|cost)|--recipe) ([a-z][\w./-]*\w)", SOUND))
    assert {name for name in named if not name.endswith(".yaml") and not name.startswith("runs/")} == set(shipped())


@pytest.mark.parametrize("kind", CHOICES)
def test_every_part_that_is_named_exists(kind):
    named = set(re.findall(CHOICES[kind], SOUND))
    assert named and named <= set(names(kind))


@pytest.mark.parametrize("kind", kinds())
def test_every_part_is_described(kind):
    assert not [name for name in names(kind) if f"`{name}`" not in GUIDES]


def test_every_verb_is_described():
    assert not [verb for verb in verbs() if f"chainrule {verb}" not in GUIDES]


def test_the_page_on_python_has_every_function_with_its_parameters():
    page = TEXTS[ROOT / "docs" / "python.md"]
    shown = {name: [word for word in given.split(", ") if word not in ("", "*")]
             for name, given in re.findall(r"`(?:with |@)?chainrule\.(\w+)\(([^)]*)\)", page)}
    assert {*shown, "LoadedRun"} == {*chainrule.__all__}
    for name in shown.keys() - {"AblationTerms", "Sampling", "Terms"}:
        assert shown[name] == [*inspect.signature(getattr(chainrule, name)).parameters], name


@pytest.mark.parametrize("recipe", shipped())
def test_every_option_of_a_recipe_is_described(recipe):
    options = load_recipe(recipe).model_dump(mode="json")
    named = [f"{section}.{key}" for section in ("text", "split", "model") for key in options[section]]
    assert not [name for name in named if f"`{name}" not in GUIDES]


@pytest.mark.parametrize("recipe", ["skipgram", "cbow", "fasttext", "glove", "ppmi", "node2vec"])
def test_defaults_of_word_vectors_are_those_of_the_recipe(recipe):
    """`5 (CBOW and GloVe 10)`: the usual value, and that of the methods that have another."""
    table = re.findall(r"^\| `(model|training)\.(\w+)` \| ([\d.]+)(?: \(([\w ]+) ([\d.]+)\))? \|",
                       TEXTS[ROOT / "docs" / "vectors.md"], re.MULTILINE)
    assert len(table) >= 6
    options = load_recipe(recipe).model_dump(mode="json")
    for section, name, usual, others, other in table:
        shown = float(other if recipe in others.lower().split(" and ") else usual)
        assert options[section][name] in (shown, None), name  # none: the method has no such option


def test_the_tree_of_the_house_is_as_it_is():
    """Every folder of the package stands in the tree on the architecture page, and nothing else does."""
    page = ROOT / "docs" / "architecture.md"
    tree = next(block.text for block in blocks(page) if block.text.startswith("chainrule/"))
    shown = set(re.findall(r"^  ([\w/]+)/ ", tree, re.MULTILINE))
    package = ROOT / "chainrule"
    folders = {path.relative_to(package).as_posix() for path in package.rglob("*")
               if path.is_dir() and "__pycache__" not in path.parts}
    assert shown == folders
    files = set(re.findall(r"([\w]+\.py)", tree))
    assert files == {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
