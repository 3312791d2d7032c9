"""Example models for `chainrule inspect --gradients`: small untrained ones of the engine."""

from __future__ import annotations

from collections.abc import Mapping

SMALL = ["tokenizer=bytes", "model.width=64", "model.context=256", "model.norm=none", "model.dropout.rate=0"]
ONE = [*SMALL, "model.pattern=r", "model.wiring=plain"]  # a single recurrence, and nothing around it
DEEP = [*SMALL, "model.width=32", "model.pattern=f*16", "model.f.name=mlp", "model.f.activation=tanh",
        "model.position=none"]

# by the name of an example: its lines, each a recipe with its changes
EXAMPLES: Mapping[str, Mapping[str, tuple[str, list[str]]]] = {
    "through-time": {
        "RNN, U = 0.8 Q": ("engine-rnn", [*ONE, "model.r.gain=0.8"]),
        "RNN, U = 3 Q": ("engine-rnn", [*ONE, "model.r.gain=3"]),
        "LSTM": ("engine-lstm", [*ONE, "model.r.forget=3"]),
        "residual stack": ("engine-transformer", [*SMALL, "model.pattern=(sf)*3", "model.norm=rms"]),
    },
    "through-depth": {
        "16 layers, plain": ("engine-mlp", [*DEEP, "model.wiring=plain"]),
        "16 layers, residual": ("engine-mlp", [*DEEP, "model.norm=rms"]),
    },
}
