"""A network's weights by name, shared ones once, and the state of its optimizer: what checkpoints and runs hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.errors import StorageError


def weights(model: nn.Module) -> dict[str, Tensor]:
    """The state dictionary; of shared parameters only the first name."""
    once = {name for name, _ in model.named_parameters()}
    twice = {name for name, _ in model.named_parameters(remove_duplicate=False)} - once
    return {name: tensor.detach() for name, tensor in model.state_dict().items() if name not in twice}


def put(model: nn.Module, found: Mapping[str, np.ndarray], source: str | Path) -> None:
    """Copies weights into a model; a name, shape or type that does not fit is an error that says which."""
    own = weights(model)
    odd = sorted(own.keys() ^ found.keys())
    if odd:
        raise StorageError(f"{source}: {odd[0]!r} is {'missing' if odd[0] in own else 'unknown'}; "
                           "the weights belong to another model.")
    with torch.no_grad():
        for name, tensor in own.items():
            if tensor.shape != found[name].shape:
                raise StorageError(f"{source}: {name!r} is {tuple(found[name].shape)}, expected {tuple(tensor.shape)}; "
                                   "the weights belong to another model.")
            if tensor.is_floating_point() != (found[name].dtype.kind == "f"):
                raise StorageError(f"{source}: {name!r} has numbers of the type {found[name].dtype}, expected "
                                   f"{str(tensor.dtype).removeprefix('torch.')}; the weights belong to another model.")
            tensor.copy_(torch.from_numpy(found[name]))


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """`PARAMETER.KEY`: the moments and counters that an optimizer keeps for each parameter, by its number."""
    found = {}
    for part in getattr(optimizer, "parts", [optimizer]):
        for number, parameter in _numbered(optimizer):
            for key, value in part.state.get(parameter, {}).items():
                found[f"{number}.{key}"] = value if isinstance(value, Tensor) else torch.tensor(value)
    return found


def put_optimizer_state(optimizer: torch.optim.Optimizer, found: Mapping[str, Tensor]) -> None:
    """The reverse."""
    parameters = dict(_numbered(optimizer))
    for part in getattr(optimizer, "parts", [optimizer]):
        mine = {p: group for group in part.param_groups for p in group["params"]}
        for name, value in found.items():
            number, _, key = name.partition(".")
            parameter = parameters[int(number)]
            if parameter in mine:
                on_host = key == "step" and not mine[parameter].get("fused")
                part.state[parameter][key] = value.to("cpu" if on_host else parameter.device)


def _numbered(optimizer: torch.optim.Optimizer) -> list[tuple[int, nn.Parameter]]:
    return list(enumerate(p for group in optimizer.param_groups for p in group["params"]))
