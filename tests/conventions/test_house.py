"""Data flows down the house and imports only go up: no room imports one that lies below it."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "chainrule"
HOUSE = [  # from the top; the rooms of one floor may import each other
    {"spine", "recipe", "recipes"},
    {"storage"},
    {"figures"},
    {"text"},
    {"runs", "jobs", "starting"},
    {"counting"},
    {"vectors"},
    {"inputs"},
    {"engine"},  # of the rooms above it imports none
    {"evaluation"},  # these two know models by their protocols alone
    {"generation"},
    {"classifying"},
    {"parts"},
    {"models"},
    {"tasks", "training"},
    {"families", "formats"},
    {"verbs"},
    {"contracts"},
    {"pages"},
    {"inspection"},
    {"experiments"},
    {"cli"},
]
FRONT = {"runs", "jobs", "starting"}  # files beside the spine that are not of it
ANNOTATED = {("chainrule.protocols", "chainrule.jobs"), ("chainrule.protocols", "chainrule.starting"),
             ("chainrule.task_protocols", "chainrule.jobs")}
# a family's protocol says what it is given and gives back
SCHEMA = "chainrule.text.options"  # all a recipe knows of text: a schema that itself imports nothing of ours
WITH_TORCH = {"parts", "models", "tasks", "training", "contracts", "inspection"}  # rooms that compute in torch
LAZY = {"torch", "duckdb", "tokenizers", "charset_normalizer", "rich"}
DOORS = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}  # they hand on what they are asked for
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(module):
    """`chainrule.text.corpora.corpus` lies in `text`; a file of the package itself in the spine or the front."""
    parts = module.split(".")
    if len(parts) < 2 or (parts[1] not in FRONT and not (PACKAGE / parts[1]).is_dir()):
        return "spine"
    return parts[1]


@cache
def floor_of(module):
    """A kernel, the fast path of some other code, is on the floor of what it imports."""
    room = room_of(module)
    if room == "kernels":
        path = PACKAGE.joinpath("kernels", *module.split(".")[2:3]).with_suffix(".py")
        ours = [each for each in imports_of(path) if each.startswith("chainrule.")] if path.exists() else []
        return max(map(floor_of, ours), default=0)
    found = [floor for floor, rooms in enumerate(HOUSE) if room in rooms]
    assert found, f"{room} has no place in the house yet: give it one in HOUSE"
    return found[0]


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path, top_only=False):
    tree = parsed(path)
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_only_go_up():
    below = []
    for path in FILES:
        here = floor_of(name_of(path))
        below += [f"{name_of(path)} imports {module}" for module in imports_of(path)
                  if module.startswith("chainrule.") and not module.startswith(SCHEMA)
                  and floor_of(module) > here and path not in DOORS
                  and (name_of(path), module.rpartition(".")[0]) not in ANNOTATED]
    assert not below


def test_the_engine_imports_only_the_spine():
    ours = {room_of(module) for path in FILES if room_of(name_of(path)) == "engine"
            for module in imports_of(path) if module.startswith("chainrule.")}
    assert ours <= {"engine", "spine", "recipe", "kernels"}


def test_the_schema_that_recipes_use_imports_nothing_of_ours_but_errors():
    ours = [module for module in imports_of(PACKAGE / "text" / "options.py") if module.startswith("chainrule")]
    assert all(module.startswith("chainrule.errors") for module in ours)


def test_only_packages_that_compute_in_torch_import_it():
    assert not [path for path in FILES if room_of(name_of(path)) not in WITH_TORCH
                and "torch" in {name.partition(".")[0] for name in imports_of(path)}]


def test_heavy_packages_are_imported_where_they_are_used():
    """Numba at the top of kernels, torch in the rooms that compute in it; elsewhere only inside functions."""
    wrong = []
    for path in FILES:
        top = {name.partition(".")[0] for name in imports_of(path, top_only=True)}
        lazy = LAZY - {"torch"} if room_of(name_of(path)) in WITH_TORCH else LAZY
        if "numba" in top and room_of(name_of(path)) != "kernels" or lazy & top:
            wrong.append(name_of(path))
    assert not wrong


def test_the_package_itself_imports_nothing_heavy():
    code = ("import sys, chainrule, chainrule.errors, chainrule.protocols\n"
            "import chainrule.recipe.registry, chainrule.storage\n"
            f"print([name for name in {sorted(LAZY | {'numba', 'pydantic'})} if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.stdout == "[]\n", done.stderr
