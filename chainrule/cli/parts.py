"""`chainrule parts`: list the parts that recipes can name, and check your own against their contract."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.console import Json, emit, table
from chainrule.errors import ChainruleError, UsageError, did_you_mean
from chainrule.recipe.papers import paper
from chainrule.recipe.registry import kinds, names, summary


def parts(
    kind: Annotated[str | None, typer.Argument(help="A kind, such as counting/smoothing; all when left out. Or the "
                                               "word check, before a plug-in folder.")] = None,
    folder: Annotated[Path | None, typer.Argument(help="After check: a plug-in folder, or one file of it.")] = None,
    json: Json = False,
) -> None:
    """List the parts that recipes can name, each with a sentence and its paper; or check those of a plug-in folder.

    A plug-in folder has subfolders named as the kinds: mixers/, attention/, heads/, smoothing/, families/. `check` runs
    the contract of each kind on every part in it, as the package's own tests do on its parts, and says what passed.

    Examples:

        chainrule parts
        chainrule parts counting/smoothing
        chainrule parts check my_parts
    """
    if kind == "check":
        if folder is None:
            raise UsageError("parts check needs a plug-in folder, for example: chainrule parts check my_parts")
        found = _checked(folder)
        emit(found, json, _show_checks)
        if found["failed"]:
            raise ChainruleError(f"{found['failed']} of {found['passed'] + found['failed']} checks failed.")
        return
    if folder is not None:
        raise UsageError(f"parts takes one kind, got {kind} and {folder}. To check a plug-in folder: chainrule parts "
                         f"check {folder}")
    if kind is not None and kind not in kinds():
        raise UsageError(f"no kind of part named {kind!r}.{did_you_mean(kind, kinds())}")
    listed = {each: {name: summary(each, name) for name in names(each)} for each in ([kind] if kind else kinds())}
    papers = {each: {name: paper(each, name) for name in group} for each, group in listed.items()}
    emit({"parts": listed, "papers": papers}, json, lambda data: table(
        ["kind", "name", "what it is"], [(each, name, " ".join(filter(None, [text, in_brackets(papers[each][name])])))
                                         for each, group in data["parts"].items() for name, text in group.items()]))


def in_brackets(text: str) -> str:
    return f"[{text}]" if text else ""


def _checked(path: Path) -> dict[str, Any]:
    """The result of every check of every part in a plug-in folder, or of the one in a file."""
    from chainrule.contracts import contract
    from chainrule.recipe import plugins

    if not path.exists():
        raise UsageError(f"{path}: no such file or folder, expected a plug-in folder with subfolders such as mixers/.")
    only = path.stem if path.is_file() else None
    root = _root(path) if path.is_file() else path
    plugins.add_plugins(root)
    inside = [(kind, file.stem) for kind in kinds() for folder in plugins.part_folders(kind)
              if folder.path.is_relative_to(root.absolute()) for file in sorted(folder.path.glob("[!_]*.py"))]
    chosen = [(kind, name) for kind, name in inside if only in (None, name)]
    if not chosen:
        raise UsageError(f"{path}: no parts in it, expected subfolders such as mixers/ or attention/ with a file a "
                         "part.")
    results = [result for kind, name in chosen for result in contract.run(kind, name)]
    without = [f"{kind}/{name}" for kind, name in chosen if not contract.checks(kind)]
    failed = sum(each.problem is not None for each in results)
    return {"folder": str(path), "passed": len(results) - failed, "failed": failed, "without_contract": without,
            "checks": [vars(each) | {"seconds": round(each.seconds, 3)} for each in results]}


def _root(file: Path) -> Path:
    """The plug-in folder of a file: the one above the folder of its kind."""
    kind = next((each for each in kinds() if file.absolute().parent.as_posix().endswith(f"/{each}")), None)
    return file.absolute().parents[len(kind.split("/")) if kind else 1]


def _show_checks(found: dict[str, Any]) -> None:
    parts_: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in found["checks"]:
        parts_.setdefault((each["kind"], each["name"]), []).append(each)
    for (kind, name), own in parts_.items():
        print(f"{kind}/{name}")
        for each in own:
            print(f"  {'passed' if each['problem'] is None else 'FAILED'}  {each['check']}")
            if each["problem"] is not None:
                print(f"          {each['problem']}")
    for each in found["without_contract"]:
        print(f"{each}: this kind has no contract; its options were read.")
    print(f"{found['passed']} passed, {found['failed']} failed")
