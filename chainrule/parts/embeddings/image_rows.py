"""Rows of pixels as vectors: what a recurrent network reads from the top of an image to its bottom."""

from __future__ import annotations

from torch import Tensor

from chainrule.parts.embeddings._pixels import OfPixels
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class ImageRows(OfPixels):
    """Each row of pixels is one vector, from the top of the image to its bottom.

    x_t = W [pixels of row t] + b; W starts as N(0, 1/inputs), b at 0. An image is then a sequence as any other: Le,
    Jaitly & Hinton 2015, arXiv:1504.00941, §4.2, read MNIST so, there pixel by pixel.
    """

    def __init__(self, place: Place):
        super().__init__(place)
        height, width, channels = self.pixels
        self.inward, self.grid = Linear(width * channels, place.width), (height, 1)

    def forward(self, images: Tensor) -> Tensor:
        return self.inward(images.flatten(2).to(self.inward.weight.dtype))
