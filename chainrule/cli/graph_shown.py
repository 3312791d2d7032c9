"""What `chainrule inspect --graph` does: walk a computation graph backward, draw it, print it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.cli.console import emit, say, table
from chainrule.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from chainrule.engine import Graph

ENDINGS = {".svg": "svg", ".dot": "dot", ".mmd": "mermaid"}


def show_graph(what: list[str], *, out: Path | None, json: bool) -> None:
    """The graph of one example, as a table, as JSON, or as a picture in a file."""
    if len(what) != 1:
        raise UsageError(f"--graph draws one graph, got {len(what)} names. Known: {', '.join(known())}.")
    if out is not None and out.suffix not in ENDINGS:
        raise UsageError(f"--out = {str(out)!r}, expected a name that ends in .svg, .dot or .mmd.")
    drawn = graph_of(what[0])
    if out is not None:
        from chainrule.storage.files import created

        with created(out) as write:
            write(getattr(drawn, ENDINGS[out.suffix])().encode())
        say(f"wrote {out}.")
    emit({"name": what[0], "nodes": [asdict(node) for node in drawn.nodes], "edges": [list(e) for e in drawn.edges]},
         json, lambda _: _show(drawn))


def known() -> list[str]:
    """The graphs of the lecture, then an example of each module."""
    from chainrule.engine.classics import CLASSICS
    from chainrule.registry import names

    return [*CLASSICS, *names("engine/modules")]


def graph_of(name: str) -> Graph:
    """With the sum of squares behind a module's outputs, so that there is one number to begin from."""
    import numpy as np

    from chainrule.engine import Tensor, graph
    from chainrule.engine.classics import CLASSICS
    from chainrule.registry import find

    if name in CLASSICS:
        return graph(CLASSICS[name]())
    if name not in known():
        raise UsageError(f"no computation graph named {name!r}.{did_you_mean(name, known())}")
    module, inputs = find("engine/modules", name).example(np.random.default_rng(0))  # type: ignore[attr-defined]
    y = module.to(np.float64)(*(Tensor(each, name=f"input {n}") for n, each in enumerate(inputs)))
    first, *rest = [(each * each).sum() for each in (y if isinstance(y, tuple) else (y,))]
    for each in rest:
        first = first + each
    return graph(first, module)


def _show(drawn: Graph) -> None:
    inputs: dict[int, list[str]] = {}
    for before, after in drawn.edges:
        inputs.setdefault(after, []).append(str(before))
    table(["node", "what", "from", "value", "gradient"],
          [(str(number), node.label, " ".join(inputs.get(number, [])), node.value, node.gradient)
           for number, node in enumerate(drawn.nodes)])
