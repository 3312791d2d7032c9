"""How far gradients reach in a stack of the engine: one pass forward, real passes back, no torch."""

from __future__ import annotations

import copy

import numpy as np

from chainrule.engine import Tensor, clip_norm, scatter
from chainrule.engine.clipping import norm
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy
from chainrule.models.engine_stack import EngineStack
from chainrule.models.inside.norms import Gradients, Norms
from chainrule.watching import Seen, watch


def measure(stack: EngineStack, ids_BT: np.ndarray, *, clip: float | None = None) -> Gradients:
    """What `gradients.measure` says of a torch stack: h is the hidden state of a recurrence; of others, what they read.

    All is computed in float64, so that neither what vanishes nor what explodes is cut off by the arithmetic.
    """
    model = copy.deepcopy(stack).to(np.float64).train(False)
    read_BT, wanted_BT = ids_BT[:, :-1], ids_BT[:, 1:]
    with watch() as seen:
        hidden, _ = model(read_BT)
    logits, cross_entropy = model.head(hidden), SoftmaxCrossEntropy()
    last = cross_entropy(logits[:, -1], wanted_BT[:, -1]) * float(len(ids_BT))  # the sum: rows are apart
    by_distance = _through_time(last, _carried(seen, len(model.sublayers)))
    loss = cross_entropy(logits, wanted_BT)
    loss.backward()
    parameters = model.parameters()
    by_layer = tuple(norm(layer.parameters()) for layer in model.sublayers)
    before = norm(parameters) if clip is None else clip_norm(parameters, clip)
    return Gradients(stack.shape.layer_names, by_distance, by_layer, before, clip, norm(parameters), loss.item())


def _carried(seen: Seen, layers: int) -> list[list[Tensor]]:
    """For each layer what it carries: T tensors (B, D), or one (B, T, D)."""
    steps = [seen.get(f"sublayers.{n}/steps") for n in range(layers)]
    return [list(own[0]) if own else [seen[f"sublayers.{n}/inward"][0]] for n, own in enumerate(steps)]


def _through_time(loss: Tensor, carried: list[list[Tensor]]) -> tuple[Norms, ...]:
    gradients = scatter(loss)
    found = []
    for layer in carried:
        parts = [gradients.get(each, np.zeros_like(each.value)) for each in layer]
        grad_BTD = parts[0] if parts[0].ndim == 3 else np.stack(parts, axis=1)
        found.append(tuple(np.linalg.norm(grad_BTD, axis=-1).mean(axis=0)[::-1].tolist()))
    return tuple(found)
