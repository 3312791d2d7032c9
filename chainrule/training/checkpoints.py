"""The tensors of a checkpoint as files: gathered to the host by the learner, written and read in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.storage.tensors import open_tensors, save_tensors

MODEL, MEMORY, OPTIMIZER = "model", "memory", "optimizer"  # files of a checkpoint: the first has the weights
Files = Mapping[str, Mapping[str, np.ndarray]]  # the tensors of each file, by the file's name without its ending
Read = Callable[[str], dict[str, np.ndarray]]


def gathered(tensors: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Torch tensors on any device as arrays; one that is sharded over several processes is put together."""
    return {name: _array(tensor) for name, tensor in tensors.items()}


def _array(tensor: Any) -> np.ndarray:
    whole = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    host = whole.detach().cpu()
    return (host.float() if host.dtype.itemsize == 2 and host.is_floating_point() else host).numpy()


def write(folder: Path, files: Files) -> None:
    """Writes the files into a folder that is sealed afterwards."""
    for name, tensors in files.items():
        save_tensors(folder / f"{name}.safetensors", dict(tensors))


def mean_of(folders: Sequence[Path]) -> Read:
    """Reads a file of several checkpoints as the mean of each of its arrays (Vaswani et al. 2017, §6.1)."""
    def read(name: str) -> dict[str, np.ndarray]:
        first, *others = [reader(folder)(name) for folder in folders]
        return {key: value if not others else np.mean([value, *(each[key] for each in others)], axis=0).astype(
            value.dtype) for key, value in first.items()}

    return read


def reader(folder: Path) -> Read:
    """Reads a file of a checkpoint into memory."""
    return lambda name: {key: np.array(value) for key, value in open_tensors(folder / f"{name}.safetensors").items()}
