"""Images as arrays of pixels, normalized by the mean and deviation of the training images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.inputs.augmentation import Changes, changed
from chainrule.inputs.files import Archive
from chainrule.inputs.image_arrays import image_archive, write_idx
from chainrule.inputs.images import ENDINGS
from chainrule.inputs.modalities._modality import Facts, Modality
from chainrule.inputs.pixels import moments, read_pixels
from chainrule.recipe.registry import part
from chainrule.task_protocols import Small

if TYPE_CHECKING:
    from chainrule.jobs import Job

LARGEST = 4096  # pixels of a side
USUAL = (28, 28)  # where nothing is known yet: MNIST's


@part
class Images(Modality):
    """Images as rows of pixels, normalized: (pixel − mean) / deviation, of the training images by channel.

    `size` (height, width) and `channels` (1 gray, 3 color) are those of the training images where they are not given;
    an image of other proportions is cut to those of the size, around its middle, and scaled. In training each image is
    shifted by up to `shift` pixels, turned by up to `rotate` degrees and scaled by up to a share of `zoom`; with
    `flip`, left and right are exchanged in half of them.
    """

    called, plural = "image", "images"
    endings, whole, view = ENDINGS, True, "pictures"

    def __init__(self, *, size: tuple[int, int] | None = None, channels: Literal[1, 3] | None = None, shift: int = 0,
                 rotate: float = 0.0, zoom: float = 0.0, flip: bool = False):
        if size is not None and (min(size) < 1 or max(size) > LARGEST):
            raise OptionError("task.inputs.size", size, f"two numbers from 1 to {LARGEST:,}: height and width")
        if shift < 0:
            raise OptionError("task.inputs.shift", shift, "at least 0 pixels")
        if not 0 <= rotate <= 180:
            raise OptionError("task.inputs.rotate", rotate, "0 to 180 degrees")
        if not 0 <= zoom < 1:
            raise OptionError("task.inputs.zoom", zoom, "at least 0 and less than 1")
        self.size, self.channels, self.changes = size, channels, Changes(shift, rotate, zoom, flip)
        self._held: tuple[Sequence[bytes], list[np.ndarray]] = ((), [])  # what `learn` has read, for `encode`

    def small(self, folder: Path) -> Small:
        """Bright and dark noise, 16 × 16 pixels, in IDX files: they need no Pillow."""
        draw = np.random.default_rng(0)
        labels = np.arange(12, dtype=np.uint8) % 2
        pixels = draw.integers(0, 128, (12, 16, 16)) + 127 * labels[:, None, None]
        write_idx(folder / "images-idx3-ubyte", pixels)
        write_idx(folder / "labels-idx1-ubyte", labels)
        return Small(folder / "images-idx3-ubyte", recipe={"tokenizer": None, "model": {
            "embedding": "patches", "position": "none", "pooling": "mean", "head": "untied"}})

    def archive(self, path: Path, need_labels: bool) -> Archive | None:
        return image_archive(path, need_labels)

    def learn(self, values: Sequence[bytes], job: Job) -> tuple[None, dict[str, Any]]:
        """A run that training starts from has its size, mean and deviation."""
        if job.start is not None and "size" in (known := job.start.facts.get("inputs", {})):
            return None, dict(known)
        pixels = read_pixels(values, self.size, self.channels)
        self._held = values, pixels
        mean_C, deviation_C = moments(pixels)
        return None, {"size": list(pixels[0].shape[:2]), "channels": pixels[0].shape[2],
                      "mean": mean_C.tolist(), "deviation": deviation_C.tolist()}

    def sizes(self, vocabulary: int, facts: Facts) -> tuple[int, tuple[int, ...]]:
        return 0, (*facts.get("size", self.size or USUAL), facts.get("channels", self.channels or 1))

    def encode(self, values: Sequence[bytes], tokenizer: Any, facts: Facts, most: int) -> list[np.ndarray]:
        """(H, W, C) bytes each; a row of pixels is what counts as one input."""
        (known, pixels), self._held = self._held, ((), [])
        if known == values:
            return pixels
        return read_pixels(values, tuple(facts["size"]), facts["channels"])

    def batch(self, arrays: Sequence[np.ndarray], facts: Facts, draw: np.random.Generator | None
              ) -> tuple[np.ndarray, None]:
        pixels = np.stack(arrays)
        if draw is not None and self.changes.any:
            pixels = changed(pixels, self.changes, draw)
        mean, deviation = (255 * np.asarray(facts[name], np.float32) for name in ("mean", "deviation"))
        return (pixels - mean) / deviation, None

    def picture(self, array: np.ndarray) -> np.ndarray:
        return array
