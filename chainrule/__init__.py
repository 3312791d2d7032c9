"""chainrule: every family of sequence model, trained, measured and looked into in the same way."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.exchange import export as export
    from chainrule.exchange import import_model as import_model
    from chainrule.experiments.compare import compare as compare
    from chainrule.experiments.terms import Terms as Terms
    from chainrule.inspection.looking import inspect as inspect
    from chainrule.jobs import train as train
    from chainrule.runs import LoadedRun as LoadedRun
    from chainrule.runs import load as load
    from chainrule.verbs import Sampling as Sampling
    from chainrule.verbs import evaluate as evaluate
    from chainrule.verbs import generate as generate
    from chainrule.verbs import predict as predict
    from chainrule.verbs import quantize as quantize
    from chainrule.verbs import score as score
    from chainrule.watching import watch as watch

__version__ = "0.1.0"

# Imported when first used: `import chainrule` and `chainrule --help` stay quick.
_HOMES = {"train": "jobs", "export": "exchange", "import_model": "exchange", "load": "runs", "LoadedRun": "runs",
          "evaluate": "verbs", "generate": "verbs", "score": "verbs", "predict": "verbs",
          "quantize": "verbs", "Sampling": "verbs", "watch": "watching",
          "inspect": "inspection.looking", "compare": "experiments.compare", "Terms": "experiments.terms"}
__all__ = ["LoadedRun", "Sampling", "Terms", "compare", "evaluate", "export", "generate", "import_model", "inspect",
           "load", "predict", "quantize", "score", "train", "watch"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainrule' has no attribute {name!r}")
    return getattr(importlib.import_module(f"chainrule.{_HOMES[name]}"), name)
