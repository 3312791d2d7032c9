"""Learning rates by depth: lower below the head, or none yet, for networks whose encoder was trained before."""

from __future__ import annotations

from typing import Any

from torch import nn

ABOVE = ("head", "pooling", "norm")  # what is not taken over


def depths(network: Any) -> dict[nn.Parameter, int]:
    """How far below the head each parameter is: the last sublayer is at 1, the embedding below the first."""
    layers = len(network.letters)
    found: dict[nn.Parameter, int] = {}
    for name, parameter in network.named_parameters():
        place = name.split(".")
        if place[0] in ABOVE:
            found[parameter] = 0
        elif place[0] == "sublayers":
            found[parameter] = layers - int(place[1])
        else:
            found[parameter] = layers + 1
    return found


def freeze(network: Any) -> None:
    """Only what is above the encoder is trained."""
    for parameter, depth in depths(network).items():
        if depth:
            parameter.requires_grad_(False)


def split_groups(optimizer: Any, network: Any, decay: float) -> None:
    """Parameter groups by depth, each with its `scale` of the learning rate: decay^depth.

    Howard & Ruder 2018, arXiv:1801.06146, §3.2: discriminative fine-tuning, there with 1/2.6 a layer.
    """
    depth = depths(network)
    for each in getattr(optimizer, "parts", [optimizer]):
        found = []
        for group in each.param_groups:
            for level in sorted({depth[parameter] for parameter in group["params"]}):
                own = [parameter for parameter in group["params"] if depth[parameter] == level]
                found.append({**group, "params": own, "depth": level, "scale": decay**level})
        each.param_groups[:] = found
    if hasattr(optimizer, "parts"):
        optimizer.param_groups = [group for each in optimizer.parts for group in each.param_groups]


def thawed(group: dict[str, Any], epochs: float) -> bool:
    """Whether a group is trained yet: in the first epoch the head, then a sublayer more in each (§3.3)."""
    return group["depth"] <= epochs
