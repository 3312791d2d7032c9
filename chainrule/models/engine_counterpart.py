"""One sentence in two languages: the options of an engine stack as the neural family says them, and the reverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.models.engine_stack import LETTERS, EngineShape, EngineStack, exported
from chainrule.models.pattern import sublayers
from chainrule.recipe.registry import resolve

Options = dict[str, Any]
PARTS = {"s": ("attention",), "r": ("elman", "ugrnn", "gru", "lstm"), "w": ("window",), "f": ("mlp", "swiglu"),
         "norm": ("rms", "layer", "none"), "wiring": ("pre_norm", "residual", "plain"),
         "position": ("rotary", "learned", "none"), "embedding": ("lookup",), "head": ("tied", "untied"),
         "dropout": ("independent", "variational")}
KINDS = {"s": "parts/mixers", "r": "parts/mixers", "w": "parts/mixers", "f": "parts/feedforwards"}
BESIDE = ("norm", "wiring", "position", "embedding", "head", "dropout")  # the letters
NAMED = {"norm": "norm", "wiring": "wiring", "position": "position", "head": "head", "recurrence": "r",
         "feedforward": "f"}  # options of the engine that name a part
ACTIVATIONS = ("gelu", "gelu_tanh", "relu", "sigmoid", "silu", "tanh")
FREE = {"attention": {"heads": "heads", "bias": "bias"}, "elman": {"gain": "gain"}, "lstm": {"forget": "forget"},
        "ugrnn": {"forget": "forget"}, "window": {"size": "window"}, "mlp": {"activation": "feedforward"},
        "lookup": {"deviation": "deviation"}, "independent": {"rate": "dropout"},
        "variational": {"rate": "dropout"}}  # options that the engine has too
TAKEN: dict[str, Options] = {
    "attention": {"groups": None}, "elman": {"activation": "tanh", "directions": 1},
    "ugrnn": {"directions": 1}, "gru": {"directions": 1}, "lstm": {"directions": 1}, "window": {"bias": True},
    "mlp": {"hidden": None, "bias": True}, "swiglu": {"hidden": None, "bias": False}, "rms": {"epsilon": 1e-6},
    "layer": {"epsilon": 1e-5, "bias": True}, "rotary": {"base": 10_000.0}, "lookup": {"scale": "one"},
    "tied": {"bias": False}, "untied": {"bias": True}}  # the only values that the engine has
FIRST: dict[str, Options] = {
    "attention": {"dropout": 0.0}, "elman": {"recurrent": "orthogonal"}, "lstm": {"spread": None},
    "gru": {"spread": None}, "ugrnn": {"spread": None}, "untied": {"deviation": 0.02},
    "learned": {"deviation": 0.02}}  # the same of what changes training alone


def in_neural(shape: EngineShape) -> Options:
    """The `model` section of the neural recipe with the same weights; every option that could differ is said."""
    chosen = {"s": "attention", "r": shape.recurrence, "w": "window", "embedding": "lookup", "dropout": "independent",
              "f": "swiglu" if shape.feedforward == "swiglu" else "mlp", "norm": shape.norm, "wiring": shape.wiring,
              "position": shape.position, "head": shape.head}
    own = asdict(shape)
    parts = {slot: {"name": name, **{theirs: own[ours] for theirs, ours in FREE.get(name, {}).items()}}
             for slot, name in chosen.items() if slot not in LETTERS or slot in sublayers(shape.pattern)}
    return {"pattern": shape.pattern, "width": shape.width, "context": shape.context, **parts}


def in_engine(model: Mapping[str, Any]) -> tuple[EngineShape, list[str]]:
    """The reverse, and what of training the engine cannot say; one line tells where it has no such part."""
    letters = sublayers(model["pattern"])
    if odd := [letter for letter in letters if letter not in LETTERS]:
        raise OptionError("model.pattern", model["pattern"], "the letters s, r, w and f",
                          f"The engine has no part for {odd[0]!r}.")
    found: Options = {name: model[name] for name in ("pattern", "width", "context")}
    left_out: list[str] = []
    for slot in [*sorted(set(letters)), *BESIDE]:
        part = resolve(KINDS.get(slot, f"parts/{slot}s"), model.get(slot) or PARTS[slot][0])
        name = part.pop("name")
        if name not in PARTS[slot]:
            raise OptionError(f"model.{slot}", name, " or ".join(PARTS[slot]), "The engine has no other part.")
        left_out += _unsaid(slot, name, part, model["width"])
        found |= {ours: part[theirs] for theirs, ours in FREE.get(name, {}).items()}
        found |= {own: name for own, of in NAMED.items() if slot == of and name != "mlp"}
    return EngineShape(**found), left_out


def _unsaid(slot: str, name: str, part: Options, width: int) -> list[str]:
    """Which options matter to training alone and are not the engine's; one that matters to the model is refused."""
    usual = {"groups": part.get("heads"), "mlp": 4 * width, "swiglu": max(8, round(width / 3) * 8)}
    for option, value in TAKEN.get(name, {}).items():
        same = usual.get(name if option == "hidden" else option, value)  # may be said, though it goes without saying
        if part[option] not in (value, same):
            raise OptionError(f"model.{slot}.{option}", part[option], repr(same), "The engine has no other.")
    if name == "mlp" and part["activation"] not in ACTIVATIONS:
        raise OptionError("model.f.activation", part["activation"], ", ".join(ACTIVATIONS), "The engine has no other.")
    unsaid = ["model.dropout.name"] if name == "variational" else []
    return unsaid + [f"model.{slot}.{option}" for option, value in FIRST.get(name, {}).items()
                     if part[option] != value]


def first_weights(model: Mapping[str, Any], vocabulary_size: int, seed: int) -> dict[str, np.ndarray]:
    """What an engine stack of the same options starts from, by torch's names."""
    shape, left_out = in_engine(model)
    starts = [each for each in left_out if "dropout" not in each]
    if starts:
        raise OptionError("training.initial", "engine", f"'torch' with {starts[0]}", "The engine starts otherwise.")
    return exported(EngineStack(shape, vocabulary_size, np.random.default_rng(seed)))

