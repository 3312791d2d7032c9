"""Images as vectors: patches, rows and maps of convolutions, each by its equation."""

import pytest
import torch

from chainrule.contracts.sublayers import moved
from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

PLACE = Place(11, features=(6, 9, 2))  # H=6 W=9 C=2 D=11: no two sizes alike


def made(choice, place=PLACE):
    torch.manual_seed(0)
    return moved(build("parts/embeddings", choice, place)).double()


def images(rows=4):
    return torch.randn(rows, 6, 9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("class_token", [False, True])
def test_patches_agree_with_the_definition(class_token):
    part, x = made({"name": "patches", "size": 3, "class_token": class_token}), images()
    y = part(x)
    assert y.shape == (4, 6 + class_token, 11) and part.vectors == 6 + class_token and part.grid == (2, 3)
    for i in range(2):
        for j in range(3):
            patch = x[:, 3 * i:3 * i + 3, 3 * j:3 * j + 3].reshape(4, -1)
            expected = patch @ part.inward.weight.T + part.inward.bias + part.rows[i] + part.columns[j]
            torch.testing.assert_close(y[:, class_token + 3 * i + j], expected)
    if class_token:
        torch.testing.assert_close(y[:, 0], part.token.expand(4, -1))


def test_a_row_of_pixels_is_a_vector():
    part, x = made("image_rows"), images()
    y = part(x)
    assert y.shape == (4, 6, 11) and part.grid == (6, 1)
    torch.testing.assert_close(y[:, 4], x[:, 4].reshape(4, 18) @ part.inward.weight.T + part.inward.bias)


def by_the_definition(part, x):
    """One image, one place, one filter at a time."""
    for block in part.blocks:
        for each in block:
            weight, (_, height, width) = each.filters.weight, x.shape
            y = torch.zeros(len(weight), height, width, dtype=x.dtype)
            for o in range(len(weight)):
                for i in range(height):
                    for j in range(width):
                        for a in range(3):
                            for b in range(3):
                                if 0 <= i + a - 1 < height and 0 <= j + b - 1 < width:
                                    y[o, i, j] += weight[o, :, a, b] @ x[:, i + a - 1, j + b - 1]
                        y[o, i, j] += each.filters.bias[o]
            groups = y.view(each.norm.num_groups, -1)
            middle, spread = groups.mean(1, keepdim=True), groups.var(1, keepdim=True, unbiased=False)
            y = ((groups - middle) / (spread + 1e-5).sqrt()).view(y.shape)
            x = (y * each.norm.weight[:, None, None] + each.norm.bias[:, None, None]).clamp(min=0)
        x = torch.stack([torch.stack([x[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2].amax((1, 2))
                                      for j in range(x.shape[2] // 2)], 1) for i in range(x.shape[1] // 2)], 1)
    return x.flatten(1).T


@torch.no_grad()
def test_convolutions_agree_with_the_definition():
    part = made({"name": "image_convolutions", "channels": (4,), "groups": 2}, Place(6, features=(6, 9, 2)))
    x = images(2)
    y = part(x)
    assert y.shape == (2, 1 * 2, 6) and part.grid == (1, 2)
    for row, image in zip(y, x, strict=True):
        torch.testing.assert_close(row, by_the_definition(part, image.permute(2, 0, 1)))


def test_an_image_does_not_depend_on_the_others_of_its_batch():
    part, x = made("image_convolutions", Place(8, features=(8, 9, 2))), torch.randn(3, 8, 9, 2, dtype=torch.float64)
    torch.testing.assert_close(part.train()(x)[1:2], part(x[1:2]))


@pytest.mark.parametrize(("choice", "place", "message"), [
    ({"name": "patches", "size": 4}, PLACE, r"Patches.size = 4, expected a divisor of the height and width, 6 and 9 "
                                            r"pixels. Try 3, or another task.inputs.size\."),
    ("patches", Place(8, vocabulary=9), r"model.embedding = 'patches', expected lookup or another that does not read"),
    ({"name": "image_convolutions", "channels": (4, 4)}, PLACE,
     r"ImageConvolutions.channels = \[4, 4\], expected at most 1 numbers. Each block halves the image"),
    ({"name": "image_convolutions", "kernel": 2}, PLACE, r"ImageConvolutions.kernel = 2, expected at least 1 and odd"),
    ({"name": "image_convolutions", "each": 0}, PLACE, r"ImageConvolutions.each = 0, expected at least 1"),
])
def test_a_wrong_option_is_refused(choice, place, message):
    with pytest.raises(OptionError, match=message):
        build("parts/embeddings", choice, place)


def test_learned_positions_need_a_context_for_every_vector():
    shape = Shape(pattern="s", width=8, context=5, position="learned", embedding={"name": "patches", "size": 3},
                  causal=False, head="untied", parts={"s": {"name": "attention", "heads": 2}})
    with pytest.raises(OptionError, match=r"model.context = 5, expected at least 6, the vectors of an input"):
        Stack(shape, Sizes(0, 3, (6, 9, 2)))


def test_an_image_can_be_the_source_of_a_text():
    """What a captioner is made of: cross-attention over the places of an image."""
    source = Shape(pattern="", width=12, embedding={"name": "image_convolutions", "channels": ()}, position="none",
                   causal=False)
    stack = Stack(Shape(pattern="sx", width=8, context=7, source=source, parts={
        "s": {"name": "attention", "heads": 2}, "x": {"name": "cross_attention", "heads": 2}}),
        Sizes(13, 13, source=Sizes(0, 0, (6, 9, 2))))
    inputs, given = stack.example(2, 5, "cpu")
    hidden, _ = stack(inputs, given=given)
    assert given.inputs.shape == (2, 6, 9, 2) and hidden.shape == (2, 5, 8)
