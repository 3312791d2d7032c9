"""chainrule: train, evaluate, sample and inspect every family of sequence model in the same way."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainrule.experiments.ablation.ablate import ablate as ablate
    from chainrule.experiments.ablation.terms import AblationTerms as AblationTerms
    from chainrule.experiments.compare import compare as compare
    from chainrule.experiments.terms import Terms as Terms
    from chainrule.inspection.confusions import confusions as confusions
    from chainrule.inspection.decisions import explain as explain
    from chainrule.inspection.inspect_text import inspect as inspect
    from chainrule.recipe.plugins import add_plugins as add_plugins
    from chainrule.recipe.registry import part as part
    from chainrule.runs import LoadedRun as LoadedRun
    from chainrule.runs import load as load
    from chainrule.verbs.count import count as count
    from chainrule.verbs.cross_validate import cross_validate as cross_validate
    from chainrule.verbs.describe import describe as describe
    from chainrule.verbs.evaluate import evaluate as evaluate
    from chainrule.verbs.export import export as export
    from chainrule.verbs.fill import fill as fill
    from chainrule.verbs.generate import Sampling as Sampling
    from chainrule.verbs.generate import generate as generate
    from chainrule.verbs.import_ import import_model as import_model
    from chainrule.verbs.merge import merge as merge
    from chainrule.verbs.predict import predict as predict
    from chainrule.verbs.quantize import quantize as quantize
    from chainrule.verbs.save import save as save
    from chainrule.verbs.score import score as score
    from chainrule.verbs.tag import tag as tag
    from chainrule.verbs.train import train as train
    from chainrule.verbs.transcribe import transcribe as transcribe
    from chainrule.verbs.translate import translate as translate
    from chainrule.watching import watch as watch

__version__ = "0.1.0"

# Imported when first used: `import chainrule` and `chainrule --help` stay quick.
_HOMES = {"load": "runs", "LoadedRun": "runs", "watch": "watching", "Sampling": "verbs.generate",
          "import_model": "verbs.import_", "inspect": "inspection.inspect_text", "explain": "inspection.decisions",
          "confusions": "inspection.confusions", "compare": "experiments.compare",
          "ablate": "experiments.ablation.ablate", "AblationTerms": "experiments.ablation.terms",
          "Terms": "experiments.terms", "part": "recipe.registry", "add_plugins": "recipe.plugins"}
_HOMES |= {verb: f"verbs.{verb}" for verb in (
    "count", "cross_validate", "describe", "evaluate", "export", "fill", "generate", "merge", "predict", "quantize",
    "save", "score", "tag", "train", "transcribe", "translate")}
__all__ = ["AblationTerms", "LoadedRun", "Sampling", "Terms", "ablate", "add_plugins", "compare", "confusions",
           "count", "cross_validate", "describe", "evaluate", "explain", "export", "fill", "generate", "import_model",
           "inspect", "load", "merge", "part", "predict", "quantize", "save", "score", "tag", "train", "transcribe",
           "translate", "watch"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainrule' has no attribute {name!r}")
    return getattr(importlib.import_module(f"chainrule.{_HOMES[name]}"), name)
