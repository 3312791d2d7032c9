"""Frames as vectors: convolutions that halve time against loops over the equation, and lengths."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
MELS, WIDTH = 7, 5


def embedding(**options):
    torch.manual_seed(0)
    return build("parts/embeddings", {"name": "frames", **options}, Place(WIDTH, features=(MELS,))).double()


def by_the_definition(made, frames):
    """One place, one band and one weight at a time; what lies before the recording or beside the bands is 0."""
    x = frames[None].tolist()  # channels, time, bands
    for convolution in made.convolutions:
        weight, bias = convolution.weight.tolist(), convolution.bias.tolist()
        time, bands = len(x[0]), len(x[0][0])
        y = []
        for out, own in enumerate(weight):
            rows = []
            for t in range((time + 1) // 2):
                row = []
                for m in range((bands + 1) // 2):
                    total = bias[out]
                    for c, kernel in enumerate(own):
                        for i in range(3):
                            for j in range(3):
                                at, band = 2 * t - 2 + i, 2 * m - 1 + j
                                if at >= 0 and 0 <= band < bands:
                                    total += kernel[i][j] * x[c][at][band]
                    row.append(max(0.0, total))
                rows.append(row)
            y.append(rows)
        x = y
    flat = torch.tensor(x, dtype=torch.float64).permute(1, 0, 2).flatten(1)
    return flat @ made.outward.weight.T + made.outward.bias


@pytest.mark.parametrize("subsampling", [1, 2, 4])
@pytest.mark.parametrize("time", [1, 2, 5, 8])
def test_agrees_with_the_definition(subsampling, time):
    made = embedding(subsampling=subsampling, channels=3)
    frames = torch.randn(time, MELS, dtype=torch.float64)
    torch.testing.assert_close(made(frames[None])[0], by_the_definition(made, frames))


@pytest.mark.parametrize("subsampling", [1, 2, 4])
def test_padding_changes_no_vector_that_counts(subsampling):
    made = embedding(subsampling=subsampling)
    for length in range(1, 12):
        frames = torch.randn(1, length, MELS, dtype=torch.float64)
        behind = torch.cat([frames, 9 * torch.randn(1, 4, MELS, dtype=torch.float64)], dim=1)
        kept = int(made.lengths(torch.tensor(length)))
        assert made(frames).shape == (1, kept, WIDTH) and kept == -(-length // subsampling)
        torch.testing.assert_close(made(behind)[:, :kept], made(frames))


def test_inputs_that_are_no_frames_are_refused():
    with pytest.raises(OptionError, match="model.embedding = 'frames', expected inputs that are frames of numbers"):
        build("parts/embeddings", "frames", Place(WIDTH, vocabulary=9))
    with pytest.raises(OptionError, match="Frames.channels = 0, expected at least 1"):
        embedding(channels=0)
