"""The meta device, on which parts are counted: tensors there have shapes and no numbers."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

from chainrule.errors import ChainruleError

TORCH = str(Path(torch.__file__).parent)
P = ParamSpec("P")
R = TypeVar("R")


def counts_shapes(count: Callable[P, R]) -> Callable[P, R]:
    """Where a part asks for numbers while it is counted, the error names its file and line."""
    @wraps(count)
    def counted(*args: P.args, **options: P.kwargs) -> R:
        try:
            return count(*args, **options)
        except (RuntimeError, NotImplementedError) as error:
            if "meta" not in str(error).lower():
                raise
            raise ChainruleError(_needs_numbers(error)) from error

    return counted


def _needs_numbers(error: BaseException) -> str:
    last = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith(TORCH)][-1]
    return (f"{last.filename}, line {last.lineno}: `{last.line}` needs a tensor's numbers. Parameters, FLOPs and "
            "memory are counted on the meta device, where tensors have shapes only. Compute with tensors alone, or "
            "leave this out where `x.is_meta`.")
