"""New images from a model of images: drawn from nothing, or from the upper half of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.generation.generate import Generated, check
from chainrule.protocols import ImageModel
from chainrule.recipe.registry import build

SHADES = " .:-=+*#%@"
AT_ONCE = 256  # images


def drawn(run: Any, begin: np.ndarray | None, num: int, sampling: Any) -> list[Generated]:
    """So many images as tokens; their text is the image in characters, the brighter the heavier."""
    model = run.offering(ImageModel, "generate")
    if sampling.beams is not None:
        raise UsageError("--beams searches for the likeliest text, and the likeliest image is empty. Leave it out.")
    strategy = build("generation/strategies", sampling.strategy())
    filters = [build("generation/filters", each) for each in sampling.filters()]
    check(num, (), strategy.results)
    tokens = np.zeros((1, 0), np.int64) if begin is None else model.tokens([begin])[:, :_upper_half(model.size)]
    found = []
    for first in range(0, num, AT_ONCE):
        rows = np.repeat(tokens, min(AT_ONCE, num - first), axis=0)
        ids_NT, log_p_N = model.draw(rows, strategy, filters, first=first)
        found += [Generated(in_characters(picture), tuple(ids.tolist()), "length", float(log_p))
                  for picture, ids, log_p in zip(model.pictures(ids_NT), ids_NT, log_p_N, strict=True)]
    return found


def _upper_half(size: tuple[int, int]) -> int:
    return size[0] // 2 * size[1]


def in_characters(picture: np.ndarray) -> str:
    """A character for each pixel, twice, since characters are narrow."""
    level = picture.mean(axis=2) / 255 * (len(SHADES) - 1)
    return "\n".join("".join(2 * SHADES[round(float(each))] for each in row).rstrip() for row in level)
