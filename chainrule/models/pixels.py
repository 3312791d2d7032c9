"""A stack as a model of images: p(image) = Π_t p(pixel_t | the pixels before it), row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from chainrule.arrays import to_numpy
from chainrule.generation.decoder import decode
from chainrule.generation.rows import Marks
from chainrule.inputs.levels import pictures_of, tokens_of
from chainrule.models.stack import Stack

AT_ONCE = 1 << 16  # pixels that are scored together


class PixelModel:
    """ln p(image) = Σ_t ln p(x_t | x_<t), x_t the number of a gray level or of a color of the palette.

    van den Oord, Kalchbrenner & Kavukcuoglu 2016, arXiv:1601.06759, eq. 1; as a Transformer Chen et al. 2020,
    "Generative pretraining from pixels". The token after the last color begins every image and is never drawn.
    """

    def __init__(self, stack: Stack, known: Any):
        self.stack, self.known = stack.eval(), known
        facts = known.facts
        self.size: tuple[int, int] = tuple(facts["size"])
        self.palette = np.array(facts["palette"], np.uint8)
        self.language = stack.language_model(len(self.palette))

    @property
    def pixels(self) -> int:
        """Of an image."""
        return self.size[0] * self.size[1]

    def tokens(self, images: Sequence[np.ndarray]) -> np.ndarray:
        """(N, T) of images (H, W, C)."""
        return tokens_of(images, self.palette)

    @torch.inference_mode()
    def log_probs_of(self, tokens_NT: np.ndarray) -> np.ndarray:
        """(N, T): ln p of each pixel, given those before it."""
        rows = max(1, AT_ONCE // self.pixels)
        return np.concatenate([to_numpy(self.language.score(tokens_NT[first:first + rows].astype(np.int64)))
                               for first in range(0, len(tokens_NT), rows)])

    def draw(self, begin_NT: np.ndarray, strategy: Any, filters: Sequence[Any], *, first: int = 0
             ) -> tuple[np.ndarray, np.ndarray]:
        """(N, T) tokens of whole images that begin so, and ln p (N,) of what was added; `first` is the first's number.
        """
        start = len(self.palette)
        prompts = [row.astype(np.int32) for row in begin_NT]
        found = decode(self.language.to_write(), prompts, strategy, marks=Marks(start, start),
                       max_tokens=self.pixels - begin_NT.shape[1], filters=filters, first=first)
        drafts = [best[0] for best in found]
        return np.array([draft.ids for draft in drafts]), np.array([draft.model_log_p for draft in drafts])

    def pictures(self, tokens_NT: np.ndarray) -> np.ndarray:
        """(N, H, W, C) bytes."""
        return pictures_of(tokens_NT, self.palette, self.size)
