"""What `chainrule inspect --graph` does: walk a computation graph backward, draw it, print it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import numpy as np

    from chainrule.engine import Graph
    from chainrule.models.engine_stack import EngineStack

TOKENS = 32  # in the vocabulary of a recipe's graph
ROWS, LENGTH = 2, 8  # of the tokens that a model reads in its graph
TEXTS = {".dot": "dot", ".mmd": "mermaid"}  # endings of files that other programs draw


def show_graph(what: list[str], text: str | None = None, *, out: Path | None, json: bool) -> None:
    """The graph of one example, as a table, as JSON, or as a picture in a file."""
    name, *overrides = what
    if others := [word for word in overrides if "=" not in word]:
        raise UsageError(f"--graph draws one graph, got {1 + len(others)} names. Known: {', '.join(known())}, and "
                         "recipes and runs of the family engine.")
    if out is not None:
        from chainrule.figures.files import check_figure

        check_figure(out, tuple(TEXTS))
    drawn = graph_of(name, overrides, text)
    if out is not None:
        _write(drawn, out)
        say(f"wrote {out}.")
    emit({"name": name, "nodes": [asdict(node) for node in drawn.nodes], "edges": [list(e) for e in drawn.edges]},
         json, lambda _: _show(drawn))


def _write(drawn: Graph, out: Path) -> None:
    from chainrule.figures.files import write_figure
    from chainrule.storage.files import created

    if out.suffix not in TEXTS:
        write_figure(out, drawn.svg())
        return
    with created(out) as write:
        write(getattr(drawn, TEXTS[out.suffix])().encode())


def known() -> list[str]:
    """The example graphs, then the modules."""
    from chainrule.engine.graph_examples import EXAMPLES
    from chainrule.recipe.registry import names

    return [*EXAMPLES, *names("engine/modules")]


def graph_of(name: str, overrides: list[str], text: str | None = None) -> Graph:
    """An example graph, a module's (the sum of squares of its outputs), a recipe's or a run's."""
    import numpy as np

    from chainrule.engine import Tensor, graph
    from chainrule.engine.graph_examples import EXAMPLES
    from chainrule.recipe.recipe import shipped
    from chainrule.recipe.registry import find

    if (Path(name) / "MANIFEST.json").exists():
        return run_graph(name, overrides, text or "pydoc")
    if text is not None:
        raise UsageError(f"--text = {text} is only for the graph of a run; {name} is not a run.")
    if name in shipped() or name.endswith((".yaml", ".yml")):
        return recipe_graph(name, overrides)
    if overrides:
        raise UsageError(f"{overrides[0]} changes nothing in the graph of {name}; only recipes can be changed.")
    if name in EXAMPLES:
        return graph(EXAMPLES[name]())
    if name not in known():
        recipes = [each for each in shipped() if each.startswith("engine-")]
        raise UsageError(f"no computation graph or run named {name!r}.{did_you_mean(name, [*known(), *recipes])}")
    module, inputs = find("engine/modules", name).example(np.random.default_rng(0))  # type: ignore[attr-defined]
    y = module.to(np.float64)(*(Tensor(each, name=f"input {n}") for n, each in enumerate(inputs)))
    first, *rest = [(each * each).sum() for each in (y if isinstance(y, tuple) else (y,))]
    for each in rest:
        first = first + each
    return graph(first, module)


def recipe_graph(name: str, overrides: list[str]) -> Graph:
    """The loss of a fresh model with a small vocabulary, on two rows of a few random tokens."""
    import numpy as np

    from chainrule.recipe.error_paths import recipe_paths_in_errors
    from chainrule.recipe.recipe import load_recipe

    recipe = load_recipe(name, overrides)
    if recipe.family != "engine":
        raise UsageError(f"{name}: its family is {recipe.family}, whose computation is not the engine's; expected a "
                         "recipe of the family engine, such as engine-transformer.")
    from chainrule.families.engine import new_network

    with recipe_paths_in_errors(recipe):
        stack = new_network(recipe, TOKENS)
    ids = np.random.default_rng(recipe.seed).integers(TOKENS, size=(ROWS, 1 + LENGTH))
    stack.draw(recipe.seed, 0)
    return stack_graph(stack, ids)


def run_graph(name: str, overrides: list[str], text: str) -> Graph:
    """The loss of a trained model on two short stretches of a text."""
    from chainrule.inspection.subject import subject
    from chainrule.recipe.recipe import load_recipe

    family = load_recipe(str(Path(name) / "recipe.yaml")).family
    if family != "engine":
        more = f" Try chainrule export {name} --to engine FOLDER, and the graph of that." if family == "neural" else ""
        raise UsageError(f"{name}: its family is {family}, whose computation is not the engine's.{more}")
    found = subject(name, overrides, text, length=LENGTH, rows=ROWS)
    model: Any = found.model
    return stack_graph(model.stack, found.ids)


def stack_graph(stack: EngineStack, ids: np.ndarray) -> Graph:
    """The mean loss of every token but each row's first."""
    from chainrule.engine import graph
    from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy

    hidden, _ = stack(ids[:, :-1])
    return graph(SoftmaxCrossEntropy()(stack.head(hidden), ids[:, 1:]), stack)


def _show(drawn: Graph) -> None:
    inputs: dict[int, list[str]] = {}
    for before, after in drawn.edges:
        inputs.setdefault(after, []).append(str(before))
    table(["node", "what", "from", "value", "gradient"],
          [(str(number), node.label, " ".join(inputs.get(number, [])), node.value, node.gradient)
           for number, node in enumerate(drawn.nodes)])
