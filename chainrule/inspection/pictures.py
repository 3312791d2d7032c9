"""The pictures of an inspected text, as figures for files and notebooks: what the page shows, without its pointer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.figures.bars import grouped_bars
from chainrule.figures.colored_text import Piece, colored_text
from chainrule.figures.drawing import ABOVE, Figure, colors
from chainrule.figures.heat import heat_map, small_maps
from chainrule.figures.lines import Chart, Line, chart

Found = Mapping[str, Any]  # what `inspect` gives
STRONGEST = 0.85  # of a color behind text, so that it can be read
FIRST_ROWS = 8  # of a map: the first tokens have little to choose from, so their large weights say nothing


def pictures(found: Found) -> dict[str, Figure]:
    """Each picture by its name: `surprisal`, `bits`, then what the model has; of members `attention-member-0`."""
    shown = {"surprisal": _surprisal(found), "bits": _bits(found)}
    for model in found["models"]:
        own = "" if len(found["models"]) == 1 or model["name"] == "the model" else f", {model['name']}"
        for name, draw in OF_MODELS.items():
            if name in model:
                shown[name + own.replace(", ", "-").replace(" ", "-")] = draw(found, model[name], own)
    return shown


def chosen(shown: Mapping[str, Figure], name: str | None) -> list[Figure]:
    """The one that is asked for, or all."""
    if name is None:
        return list(shown.values())
    if name not in shown:
        raise OptionError("--figure", name, f"one of {', '.join(shown)}")
    return [shown[name]]


def _surprisal(found: Found) -> Figure:
    tokens = found["tokens"]
    finite = [each["surprisal"] for each in tokens if _known(each["surprisal"])]
    most = max(4.0, float(np.quantile(finite, 0.98)) if finite else 4.0)
    pieces = [(text, ABOVE, STRONGEST * min(1.0, _finite(token["surprisal"], most) / most))
              for token, text in zip(tokens, _texts(found), strict=True)]
    caption = f"The darker a token, the less the model expected it; the darkest stands for {most:.1f} bits and more."
    return colored_text(f"{found['run']} reads {found['text']}", caption, pieces)


def _bits(found: Found) -> Figure:
    tokens = found["tokens"]
    lines = [Line(label, range(1, len(tokens) + 1), [_finite(each[key], math.nan) for each in tokens], look=look)
             for label, key, look in (("surprisal", "surprisal", 1), ("expected (entropy)", "entropy", 0))]
    return chart(Chart("Bits, token by token", "token", "bits", lines))


def _members(found: Found, part: Mapping[str, Any], of: str) -> Figure:
    names = [f"member {n}" for n in range(len(part["weights"]))]
    looks = colors(names)
    share_TM = _shares(part)
    pieces: list[Piece] = []
    for text, own in zip(_texts(found), share_TM, strict=True):
        best = int(np.argmax(own))
        strength = (own[best] - 1 / len(names)) / (1 - 1 / len(names)) if len(names) > 1 else 1.0
        pieces.append((text, looks[names[best]], 0.7 * max(0.0, float(strength))))
    legend = {f"{name}, weight {weight:.3f}": looks[name] for name, weight in zip(names, part["weights"], strict=True)}
    return colored_text(f"By whom each token was expected{of}", "The member with the largest share λₘ pₘ / Σ λ p.",
                        pieces, legend)


def _shares(part: Mapping[str, Any]) -> np.ndarray:
    """(T, M): λ_m p_m / Σ_k λ_k p_k; 0 for all where no member thinks a token possible."""
    log_probs = [[-math.inf if value is None else value for value in own] for own in part["log_probs"]]
    weighted_MT = np.asarray(part["weights"])[:, None] * np.exp(np.asarray(log_probs, float))
    return (weighted_MT / np.maximum(weighted_MT.sum(0), 1e-300)).T


def _backoff(found: Found, part: Mapping[str, Any], of: str) -> Figure:
    orders = range(1, len(part["orders"]) + 1)
    bits: dict[int, list[float]] = {order: [] for order in orders}
    for each in part["tokens"]:
        bits[each["order"]].append(-math.log2(each["probability"]) if each["probability"] else math.inf)
    below = [f"{sum(own) / len(own):.2f} bits each" if own else "" for own in bits.values()]
    return grouped_bars(f"Which order answered{of}", [f"order {order}" for order in orders],
                        {"tokens": part["orders"]}, x_label="length of the longest n-gram found", y_label="tokens",
                        below=below)


def _attention(found: Found, part: Mapping[str, Any], of: str) -> Figure:
    rows = {}
    for layer, rolled in zip(part["layers"], part["rollout"], strict=True):
        maps = {f"head {n}": weights for n, weights in enumerate(layer["heads"])} | {"rollout": rolled}
        rows[layer["name"]] = {name: (weights, _darkest(weights)) for name, weights in maps.items()}
    return small_maps(f"Attention of the first {len(part['read'])} tokens{of}: rows look at columns", rows)


def _darkest(weights: Sequence[Sequence[float]]) -> float:
    most = [max(row) for row in weights[min(FIRST_ROWS, len(weights) - 1):]]
    return min(1.0, max(0.05, float(np.quantile(most, 0.9))))


def _layers(found: Found, part: Mapping[str, Any], of: str) -> Figure:
    return heat_map(f"Similarity of layers: unbiased CKA{of}", part["unbiased_cka"], part["names"], numbers=True)


def _positions(found: Found, part: Mapping[str, Any], of: str) -> Figure:
    lines = []
    for form in part["forms"]:
        matrix = np.asarray(form["similarity"], float)
        means = [float(np.diagonal(matrix, distance).mean()) for distance in range(len(matrix))]
        lines.append(Line(f"{form['name']}{', this model' if form['own'] else ''}", range(len(means)), means))
    return chart(Chart(f"Similarity of two places by their distance{of}", "distance, tokens", "similarity", lines))


OF_MODELS: dict[str, Callable[[Found, Any, str], Figure]] = {
    "members": _members, "backoff": _backoff, "attention": _attention, "layers": _layers, "positions": _positions}


def _texts(found: Found) -> list[str]:
    """Each token as it stands in its line: the spaces between words are put back, an end mark ends the line."""
    texts, unit = [], None
    for token in found["tokens"]:
        space = " " if found["spaced"] and token["unit"] == unit else ""
        unit = token["unit"]
        texts.append(f"{space}{token['text']}{chr(10) if token['token'] == '</s>' else ''}")
    return texts


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _finite(value: float | None, other: float) -> float:
    return value if value is not None and math.isfinite(value) else other
