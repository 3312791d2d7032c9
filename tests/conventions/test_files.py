"""Small files with one idea each, which say what it is; no bags of leftovers, no pickles, no machine's own paths."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = sorted((ROOT / "chainrule").rglob("*.py"))
PYTHON = [*PACKAGE, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
TEXTS = [path for pattern in ("*.md", "*.toml", "*.yaml", "*.txt", "Makefile", ".ci/*", "docs/*.md")
         for path in ROOT.glob(pattern) if path.is_file()] + sorted((ROOT / "chainrule").rglob("*.yaml"))
BAGS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "stuff"}
UNSAFE = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
LONGEST_FILE, MOST_PARAMETERS, LONGEST_FUNCTION = 400, 8, 50


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path):
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def imported(path):
    """The top-level names of every module that a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def offenders(paths, rule):
    """`file: what is wrong` for every complaint that the rule has about a file."""
    return [f"{path.relative_to(ROOT)}: {complaint}" for path in paths for complaint in rule(path)]


def test_a_file_says_in_its_first_line_which_idea_lives_there():
    def rule(path):
        if len((ast.get_docstring(tree(path)) or "").split("\n")[0]) < 20:
            yield "no docstring that says it"
    assert not offenders(PYTHON, rule)


def test_a_file_is_not_too_long():
    def rule(path):
        if (length := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE:
            yield f"{length} lines"
    assert not offenders(PYTHON, rule)


def test_a_function_can_be_read_at_once():
    """Without its docstring; verbs have a parameter for each option, and kernels take arrays apart."""
    def rule(path):
        for function in functions(path):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            given = function.args
            named = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len([name for name in named if name not in ("self", "cls")])
            if length > LONGEST_FUNCTION:
                yield f"{function.name} has {length} lines"
            if count > MOST_PARAMETERS and path.parent.name not in ("cli", "verbs", "kernels"):
                yield f"{function.name} has {count} parameters"
    assert not offenders(PACKAGE, rule)


def test_a_file_is_named_after_what_is_in_it():
    assert not [path for path in PYTHON if path.stem in BAGS]


def test_nothing_is_pickled():
    def rule(path):
        yield from UNSAFE & set(imported(path))
        if path != Path(__file__):
            yield from re.findall(r"allow_pickle\s*=\s*True", path.read_text(encoding="utf-8"))
    assert not offenders(PYTHON, rule)


def test_no_error_is_swallowed():
    def rule(path):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler):
                if node.type is None:
                    yield f"line {node.lineno}: a bare except"
                if all(isinstance(each, ast.Pass) for each in node.body):
                    yield f"line {node.lineno}: except … pass"
    assert not offenders(PACKAGE, rule)


def test_nothing_is_evaluated_from_text():
    def rule(path):
        calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        yield from {each.id for each in calls if isinstance(each, ast.Name)} & {"eval", "exec", "compile"}
    assert not offenders(PACKAGE, rule)


def test_no_file_names_a_place_on_one_machine():
    def rule(path):
        yield from re.findall(r"(?<![\w.])/(?:home|root|work|Users)/\w+", path.read_text(encoding="utf-8"))
    assert not offenders([*PYTHON, *TEXTS], rule)


def test_the_rules_look_at_files():
    """None of the tests above is true for lack of files."""
    assert len(PACKAGE) > 40 and len(PYTHON) > len(PACKAGE) and TEXTS
