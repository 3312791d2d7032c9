"""Parts by folder: the file's name is the part's name, its constructor's signature the schema of its options.

A kind is a folder, such as `parts/mixers`; several are joined by a bar, as `parts/mixers|parts/attention`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from chainrule.errors import UsageError, did_you_mean
from chainrule.recipe import plugins
from chainrule.recipe.problems import Problem, Problems, wrong
from chainrule.recipe.signatures import MISSING, Option, declared, is_marked
from chainrule.recipe.wording import type_in_words

PACKAGE = "chainrule"
ROOT = Path(__file__).parents[1]
Part = TypeVar("Part", bound=Callable[..., Any])


def part(cls: Part) -> Part:
    """Marks the one class of a file that the registry builds."""
    cls.__is_part__ = True  # type: ignore[attr-defined]
    return cls


def names(kind: str) -> list[str]:
    """The parts of a kind, e.g. `names("counting/smoothing")`. Reads the folder, imports nothing."""
    return sorted({path.stem for folder in _part_folders(kind) for path in folder.path.glob("[!_]*.py")})


def kinds() -> list[str]:
    """Every folder of parts: one whose __init__ says so with a `PARTS = "what they are"` line."""
    found = []
    for init in sorted(ROOT.rglob("__init__.py")):
        if _constant(init, "PARTS") is not None:
            found.append(init.parent.relative_to(ROOT).as_posix())
    return found


def docstring(kind: str, name: str) -> str:
    """What a part says about itself, read without importing the file."""
    tree = ast.parse(_path(kind, name).read_text(encoding="utf-8"))
    marked = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and is_marked(node)]
    return ast.get_docstring(marked[0] if marked else tree) or ""


def summary(kind: str, name: str) -> str:
    """The first sentence of a part's docstring."""
    return docstring(kind, name).split("\n")[0]


def find(kind: str, name: str) -> Callable[..., Any]:
    """The part itself: imports the one file that has its name."""
    module: Any = importlib.import_module(f"{_part_folder(kind, name).package}.{name}")
    marked = [value for value in vars(module).values()
              if getattr(value, "__is_part__", False) and value.__module__ == module.__name__]
    if len(marked) != 1:
        raise UsageError(f"{module.__file__} marks {len(marked)} parts with @part, expected exactly one.")
    return marked[0]


def options(kind: str, name: str) -> dict[str, Option]:
    """The keyword-only parameters of a part: what a recipe may set. The file is imported if its text is not enough."""
    if (found := declared(_path(kind, name))) is not None:
        return found
    make = find(kind, name)
    hints = get_type_hints(make.__init__ if inspect.isclass(make) else make, include_extras=True)
    return {key: Option(MISSING if each.default is each.empty else each.default, _mark(hints.get(key, Any)))
            for key, each in inspect.signature(make).parameters.items() if each.kind is each.KEYWORD_ONLY}


def build(kind: str, choice: str | Mapping[str, Any], *args: Any) -> Any:
    """Makes a part from `"name"` or `{"name": ..., option: value}`; a misspelt option is an error with a suggestion."""
    try:
        given = resolve(kind, choice)
    except Problems as error:
        name = choice if isinstance(choice, str) else choice.get("name", kind)
        raise Problems(problem.under((name,)) for problem in error.problems) from None
    return find(kind, given.pop("name"))(*args, **given)


def resolve(kind: str, choice: str | Mapping[str, Any]) -> dict[str, Any]:
    """The choice with its name and every option, defaults filled in; raises all problems at once."""
    given = {"name": choice} if isinstance(choice, str) else dict(choice)
    if "name" not in given:
        raise Problems([Problem(("name",), f"{{}} is missing.{did_you_mean('', names(kind))}")])
    name = given.pop("name")
    if not has(kind, name):
        raise Problems([Problem(("name",), str(_unknown(kind, name)))])
    known = options(kind, name)
    full = {"name": name, **{key: _default(option) for key, option in known.items()}}
    problems = []
    for key, value in given.items():
        try:
            full[key] = _checked(value, known[key].hint) if key in known else None
        except Problems as error:
            problems += [problem.under((key,)) for problem in error.problems]
        except ValueError:
            problems.append(wrong((key,), value, described(known[key].hint)))
        if key not in known:
            problems.append(Problem((key,), f"no option {{}}.{did_you_mean(key, known)}"))
    problems += [Problem((key,), "{} is missing, and has no default.") for key in known if full[key] is MISSING]
    if problems:
        raise Problems(problems)
    return full


def _default(option: Option) -> Any:
    """An option that chooses a part has that part's own defaults, too."""
    return option.hint.resolved(option.default) if _chooses(option.hint) else option.default


def _mark(hint: Any) -> Any:
    """`Annotated[Choice, PartOf(kind)]` as the mark itself."""
    return next((each for each in getattr(hint, "__metadata__", ()) if _chooses(each)), hint)


def _chooses(hint: Any) -> bool:
    return hasattr(hint, "resolved")  # a `choices.PartOf`, which imports this file


def _checked(value: Any, hint: Any) -> Any:
    """The value as its annotation wants it: no text for a number, but a YAML list may become a tuple."""
    if _chooses(hint):
        return hint.resolved(value)
    if importlib.util.find_spec("pydantic") is None:  # a machine with torch alone: recipes were checked elsewhere
        return value
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    if isinstance(value, list):  # strict Python refuses a list for a tuple, strict JSON does not
        return adapter.validate_json(json.dumps(value), strict=True)
    return adapter.validate_python(value, strict=True)


def described(hint: Any) -> str:
    """A type as an error message says it: `a whole number or None`, `one of 'sum', 'mean'`."""
    return f"the name of a {called(hint.kind)}" if _chooses(hint) else type_in_words(hint)


def part_folders(kind: str) -> Iterator[plugins.PartFolder]:
    """Where parts of a kind lie: the package's own folder first; plug-ins are only looked for if more is wanted."""
    own = plugins.PartFolder(ROOT / kind, ".".join([PACKAGE, *kind.split("/")]))
    if (own.path / "__init__.py").exists():
        yield own
        yield from plugins.part_folders(kind)


def _part_folders(kind: str) -> Iterator[plugins.PartFolder]:
    for each in kind.split("|"):
        here = part_folders(each)
        if (first := next(here, None)) is None:
            raise UsageError(f"no kind of part named {each!r}.{did_you_mean(each, kinds())}")
        yield first
        yield from here


def has(kind: str, name: object) -> bool:
    """Whether there is a part of this name; looks at plug-ins only where the package has none."""
    return _found(kind, name) is not None


def _found(kind: str, name: object) -> plugins.PartFolder | None:
    """Where a part's file lies; the package's own comes first."""
    usual = isinstance(name, str) and name.isidentifier() and name[0] != "_"
    return next((each for each in _part_folders(kind) if usual and (each.path / f"{name}.py").exists()), None)


def _part_folder(kind: str, name: str) -> plugins.PartFolder:
    if (found := _found(kind, name)) is None:
        raise _unknown(kind, name)
    return found


def _path(kind: str, name: str) -> Path:
    """The file of a part."""
    return _part_folder(kind, name).path / f"{name}.py"


def kind_of(kind: str, name: str) -> str:
    """Which of several kinds has a part of this name."""
    return next((each for each in kind.split("|") if has(each, name)), kind.split("|")[0])


def called(kind: str) -> str:
    """What one part of a kind is called in a sentence: `smoothing method`."""
    return _constant(ROOT / kind.partition("|")[0] / "__init__.py", "PARTS") or kind


def _unknown(kind: str, name: object) -> UsageError:
    return UsageError(f"no {called(kind)} named {name!r}.{did_you_mean(str(name), names(kind))}")


def _constant(path: Path, name: str) -> str | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return ast.literal_eval(node.value)
    return None
