"""Blocks of convolutions over an image, each half as large as the one before: its last map as a sequence of vectors."""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.embeddings._pixels import OfPixels
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class ImageConvolutions(OfPixels):
    r"""Blocks of convolutions, each ending with the largest of every 2 × 2 places; the last map is the sequence.

    y = relu(norm(W ∗ x + b)),  `each` times in a block,   then   y_ij = max over 2i, 2i+1 × 2j, 2j+1

    LeCun et al. 1998, "Gradient-based learning applied to document recognition", with the relu of Krizhevsky et al.
    2012 and small filters as in Simonyan & Zisserman 2015, arXiv:1409.1556. `channels` are those of all blocks but the
    last, which has the model's width. The norm is that of groups of channels (Wu & He 2018, arXiv:1803.08494): it needs
    no statistics of other images. W starts as N(0, 2/inputs) (He et al. 2015, arXiv:1502.01852), b at 0.
    """

    def __init__(self, place: Place, *, channels: tuple[int, ...] = (32, 64), each: int = 2, kernel: int = 3,
                 groups: int = 8):
        super().__init__(place)
        height, width, inward = self.pixels
        blocks = [*channels, place.width]
        for name, value, good in (("channels", channels, min(blocks) > 0), ("each", each, each > 0),
                                  ("groups", groups, groups > 0), ("kernel", kernel, kernel > 0 and kernel % 2)):
            if not good:
                raise OptionError(f"ImageConvolutions.{name}", value, "at least 1" + " and odd" * (name == "kernel"))
        if min(height, width) >> len(blocks) < 1:
            most = int(math.log2(min(height, width))) - 1
            raise OptionError("ImageConvolutions.channels", channels, f"at most {max(0, most)} numbers", "Each block "
                              f"halves the image, which has {height} × {width} pixels.")
        self.blocks = nn.ModuleList()
        for outward in blocks:
            self.blocks.append(nn.Sequential(*(Convolution(inward if not n else outward, outward, kernel, groups)
                                               for n in range(each))))
            inward = outward
        self.grid = height >> len(blocks), width >> len(blocks)

    def forward(self, images: Tensor) -> Tensor:
        x = images.permute(0, 3, 1, 2)
        for block in self.blocks:
            x = F.max_pool2d(block(x), 2)
        return x.flatten(2).transpose(1, 2)


class Convolution(nn.Module):
    """A convolution that keeps the size, a norm and a relu."""

    def __init__(self, inward: int, outward: int, kernel: int, groups: int):
        super().__init__()
        self.filters = nn.Conv2d(inward, outward, kernel, padding=kernel // 2)
        nn.init.normal_(self.filters.weight, 0.0, math.sqrt(2 / (inward * kernel**2)))
        nn.init.zeros_(self.filters.bias)  # type: ignore[arg-type]
        self.norm = nn.GroupNorm(math.gcd(groups, outward), outward)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.norm(self.filters(x.to(self.filters.weight.dtype))))
