"""The figure of a recording: its spectrogram, and below it how sure the model was of what, at every moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.figures.drawing import INK, LINE, SERIES, SOFT, WIDTH, Figure, cut, heading, words
from chainrule.figures.raster import drawn, heat

LEFT, RIGHT = 52.0, 16.0  # pixels beside the picture
HIGH, LOWER = 160.0, 120.0  # of the spectrogram, and of the curves below it
DARKEST = 2.5  # deviations above the mean of training
PALE = 0.4  # of the spectrogram under a map, so that its colors can be seen
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # seconds


def recording_figure(each: Mapping[str, Any]) -> Figure:
    """Time from left to right, pitch from below to above; then a curve for each token, or for each label."""
    said = each["text"] if "text" in each else ", ".join(
        f"{own['label']} {own['probability']:.4f}" for own in each["labels"][:3])
    title = f"{each['file']}: {said}"
    top = 44.0
    over = each.get("gradient_times_input")
    under = _shades(each["spectrogram"], 1.0 if over is None else PALE)
    marks = [heading(title), drawn(under, LEFT, top, _wide(), HIGH)]
    if over is not None:
        marks.append(drawn(heat(np.asarray(over)), LEFT, top, _wide(), HIGH))
    below = top + HIGH + 26
    most = max((max(own) for own in each["weights"]), default=1.0) if each.get("shows") == "attention" else 1.0
    marks += [_frame(top, HIGH), _frame(below, LOWER), _axis(each["seconds"], below + LOWER),
              words(LEFT - 6, top + 10, "pitch", size=11, anchor="end", color=SOFT),
              words(LEFT - 6, below + 4, f"{most:.2g}", size=11, anchor="end", color=SOFT),
              words(LEFT - 6, below + LOWER, "0", size=11, anchor="end", color=SOFT)]
    marks += _of_tokens(each, below, most) if "tokens" in each else _of_labels(each, below)
    return Figure(title, WIDTH, below + LOWER + 40, "".join(marks))


def _of_tokens(each: Mapping[str, Any], below: float, most: float) -> list[str]:
    """Curves of the tokens with their spelling at the peak; words stand above the spectrogram's lower edge."""
    numbers = {token: n for n, token in enumerate(dict.fromkeys(own["token"] for own in each["tokens"]))}
    marks = []
    for own, weights in zip(each["tokens"], each["weights"], strict=True):
        color = SERIES[numbers[own["token"]] % len(SERIES)]
        times = (np.arange(len(weights)) + 0.5) * each["step"]
        marks.append(_curve(times, [value / most for value in weights], each["seconds"], below, color))
        middle = (own["begin"] + own["end"]) / 2
        marks.append(words(_x(middle, each["seconds"]), below - 5, cut(own["token"].replace(" ", "␣"), 8), size=11,
                           anchor="middle", color=color))
    for word in each["words"]:
        marks.append(words(_x((word["begin"] + word["end"]) / 2, each["seconds"]), 40, cut(word["word"], 12), size=12,
                           anchor="middle", color=INK))
    return marks


def _of_labels(each: Mapping[str, Any], below: float) -> list[str]:
    """p of the likeliest labels of what was heard so far."""
    marks = []
    for n, own in enumerate(each["over_time"]):
        color = SERIES[n % len(SERIES)]
        marks.append(_curve(each["moments"], own["probability"], each["seconds"], below, color))
        marks.append(words(LEFT + 8 + 90 * n, below - 6, cut(own["label"], 12), size=11, color=color))
    return marks


def _curve(times: Sequence[float], values: Sequence[float], seconds: float, top: float, color: str) -> str:
    points = " ".join(f"{_x(t, seconds):.1f},{top + LOWER * (1 - value):.1f}"
                      for t, value in zip(times, values, strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.4"/>\n'


def _axis(seconds: float, down: float) -> str:
    step = next((each for each in TICKS if seconds / each <= 10), TICKS[-1])
    ticks = np.arange(0, seconds + 1e-9, step)
    return "".join(words(_x(float(t), seconds), down + 15, f"{t:g}", size=11, anchor="middle", color=SOFT)
                   for t in ticks) + words(WIDTH - RIGHT, down + 30, "seconds", size=11, anchor="end", color=SOFT)


def _frame(top: float, high: float) -> str:
    return (f'<rect x="{LEFT}" y="{top:.1f}" width="{_wide():.1f}" height="{high:.1f}" fill="none" '
            f'stroke="{LINE}"/>\n')


def _shades(values: Any, darkest: float) -> np.ndarray:
    """(mels, t, 1) bytes: the louder, the darker."""
    share = np.clip((np.asarray(values) + DARKEST) / (2 * DARKEST), 0, 1)
    return np.round(255 * (1 - darkest * share)).astype(np.uint8)[:, :, None]


def _wide() -> float:
    return WIDTH - LEFT - RIGHT


def _x(time: float, seconds: float) -> float:
    return LEFT + _wide() * min(1.0, time / max(seconds, 1e-9))
