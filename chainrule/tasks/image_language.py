"""Images pixel by pixel: every pixel is predicted from those above it and to its left."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chainrule.errors import OptionError, UsageError
from chainrule.models.sizes import Sizes
from chainrule.protocols import ImageModel
from chainrule.recipe.registry import build, part
from chainrule.task_protocols import Small
from chainrule.tasks._batch import Batch
from chainrule.tasks._known import Known
from chainrule.tasks._rows import Examples, RowBatches
from chainrule.tasks._task import Learned, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.generation.generate import Generated
    from chainrule.jobs import Job
    from chainrule.models.pixels import PixelModel

MOST = 256  # levels: a token is a byte
SHOWN = 112  # pixels of a small image's longer side, in a file


@part
class ImageLanguage(Learned):
    r"""Every pixel of an image is predicted from those before it, row by row.

    −1/T Σ_t ln p(x_t | x_<t),  x_t one of `levels` gray levels, or of as many colors that are learned

    van den Oord et al. 2016, arXiv:1601.06759. `size` (height, width) and `channels` are those of the training images
    where they are not given; labels are not looked at.
    """

    ability = ImageModel
    kind = "model of images"
    uses = ("generate {run} --num 16 --out samples.png", "evaluate {run} --data FOLDER")
    caution = "It draws what its training images show, and may give some of them back nearly as they are."
    causal = True
    loss_per = "pixel"

    def __init__(self, *, levels: int = 16, size: tuple[int, int] | None = None,
                 channels: Literal[1, 3] | None = None):
        if not 2 <= levels <= MOST:
            raise OptionError("task.levels", levels, f"2 to {MOST}")
        self.levels = levels
        self.modality = build("inputs/modalities", {"name": "images", "size": size, "channels": channels})

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        from chainrule.inputs.files import open_files

        refuse_target(self, target)
        return data if hasattr(data, "fingerprint") else open_files(data, recipe, self.modality, need_labels=False)

    def split(self, corpus: Any, fraction: float, seed: int) -> tuple[Any, Any]:
        from chainrule.inputs.rows import parted

        return parted(corpus, fraction, seed)

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return Sizes.of(len((facts or {}).get("palette", range(self.levels))) + 1)

    def small(self, folder: Path) -> Small:
        from chainrule.inputs.image_arrays import write_idx

        write_idx(folder / "images-idx3-ubyte", np.random.default_rng(0).integers(0, 256, (12, 5, 7)))
        return Small(folder / "images-idx3-ubyte", recipe={"tokenizer": None, "model": {"context": 35}})

    def read(self, job: Job) -> PixelsRead:
        known, train = self.known_of(job.corpus, None if job.start is None else job.start.facts)
        self._check_context(job.recipe.model.context, known.facts["size"])
        valid = None if job.valid is None else self.tokens(self.pixels(job.valid, known.facts), known.facts)
        return PixelsRead(known, train, valid)

    def known_of(self, corpus: Any, earlier: Mapping[str, Any] | None = None) -> tuple[Known, np.ndarray]:
        """What training images say about size and colors, and their tokens (N, T); a run that is gone on from says it.
        """
        from chainrule.inputs.levels import palette_of

        images = self.pixels(corpus, earlier or {"size": self.modality.size, "channels": self.modality.channels})
        facts = dict(earlier) if earlier else {"size": list(images[0].shape[:2]), "channels": images[0].shape[2],
                                               "palette": palette_of(images, self.levels).tolist()}
        return Known(None, self.sizes(0, facts), facts), self.tokens(images, facts)

    @staticmethod
    def pixels(corpus: Any, facts: Mapping[str, Any]) -> list[np.ndarray]:
        """(H, W, C) bytes of each image of a corpus."""
        from chainrule.inputs.labeled import Layout, labeled
        from chainrule.inputs.pixels import read_pixels

        values = [each.text for each in labeled(corpus, Layout())]
        return read_pixels(values, facts["size"] and tuple(facts["size"]), facts["channels"], "task.size")

    @staticmethod
    def tokens(images: Sequence[np.ndarray], facts: Mapping[str, Any]) -> np.ndarray:
        """(N, T) of images (H, W, C)."""
        from chainrule.inputs.levels import tokens_of

        return tokens_of(images, np.array(facts["palette"], np.uint8))

    @staticmethod
    def _check_context(context: int, size: Sequence[int]) -> None:
        if size[0] * size[1] > context:
            raise OptionError("model.context", context, f"at least {size[0] * size[1]:,}, the pixels of an image of "
                              f"{size[0]} × {size[1]}", "Or read smaller images: task.size=[14,14]")

    def training_data(self, read: PixelsRead, network: Any, plan: Any, say: Any) -> RowBatches:
        train, valid = (None if each is None else read.examples(each) for each in (read.train, read.valid))
        assert train is not None
        return RowBatches(read.known, train, valid, plan)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, _ = network(batch.inputs)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, count = 0.0, 0
        for batch in batches:
            total, count = total + float(self.loss(network, batch)[0]), count + batch.count
        return {"loss": total / count, "bits_per_pixel": total / count / math.log(2)} if count else {}

    def model(self, network: Any, known: Known) -> PixelModel:
        from chainrule.models.pixels import PixelModel

        return PixelModel(network, known)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.evaluation.ranking import Entry, intervals

        table, measure = self.answered(run, self.open(data, run.recipe)), build("evaluation/measures", "bits_per_pixel")
        found = {"images": len(table), "pixels": int(table[:, 1].sum()), "levels": len(run.model.palette),
                 "bits_per_pixel": measure.value(table), "nats_per_image": float(table[:, 0].mean())}
        if not how.bootstrap:
            return found
        [interval] = intervals([Entry("", (table,))], measure, draws=min(how.bootstrap, 2_000), seed=how.seed)
        return found | {"interval": {} if interval is None else {"bits_per_pixel": interval}}

    def answered(self, run: Any, corpus: Any) -> np.ndarray:
        """(R, 2): nats and pixels of each image."""
        model = run.offering(ImageModel, "evaluate")
        logs_NT = model.log_probs_of(model.tokens(self.pixels(corpus, model.known.facts)))
        return np.stack([-logs_NT.sum(axis=1, dtype=np.float64), np.full(len(logs_NT), model.pixels)], axis=1)

    def generated(self, run: Any, prompt: str, *, num: int, max_tokens: int, sampling: Any) -> list[Generated]:
        """Whole images, whatever `max_tokens`; a prompt is an image whose upper half they have."""
        from chainrule.tasks._drawn import drawn

        found = drawn(run, self.pixels_of(run, prompt) if prompt else None, num, sampling)
        return [replace(each, text=f"\n{each.text}") for each in found] if prompt else found  # below the file's name

    def pixels_of(self, run: Any, file: str) -> np.ndarray:
        """(H, W, C) of one image as the run reads it."""
        corpus, facts = self.open([file], run.recipe), run.model.known.facts
        if len(corpus.rows) != 1:
            raise OptionError("--prompt", file, f"one image, and not {len(corpus.rows):,}")
        return self.pixels(corpus, facts)[0]

    def read_prompt(self, run: Any, given: str, length: int | None) -> str:
        if length is not None:
            raise OptionError("prompt_length", length, "none, since the upper half of the image is taken")
        return given

    def check_file(self, path: Path) -> None:
        if path.suffix.lower() != ".png":
            raise UsageError(f"--out = {str(path)!r}, expected a name that ends in .png.")

    def write_generated(self, run: Any, prompt: str, generated: Generated, path: Path) -> None:
        self.write_together(run, [generated], path)

    def write_together(self, run: Any, generated: Sequence[Generated], path: Path) -> None:
        """A grid of pictures, each pixel several wide where they are small."""
        from chainrule.figures.raster import mosaic, png_bytes
        from chainrule.storage.files import created

        pictures = run.model.pictures(np.array([each.ids for each in generated]))
        with created(path) as write:
            write(png_bytes(mosaic(list(pictures), scale=max(1, SHOWN // max(pictures.shape[1:3])))))

    def reading(self, recipe: Any) -> Any:
        return recipe.task

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On held-out images: `tasks._held_out_images`."""
        from chainrule.tasks._held_out_images import HeldOutImages

        return HeldOutImages(self, recipe, data, valid, fraction, seed)


@dataclass(frozen=True)
class PixelsRead:
    """Images as tokens (N, T), to train and to validate on."""

    known: Known
    train: np.ndarray
    valid: np.ndarray | None

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return self.train.size

    def examples(self, tokens_NT: np.ndarray) -> Examples:
        """Each pixel is predicted from those before it; the token after the last color comes before the first."""
        start = self.known.sizes.vocabulary - 1

        def collate(numbers: np.ndarray, batch: int) -> Batch:
            wanted = tokens_NT[numbers].astype(np.int64)
            read = np.concatenate([np.full((len(wanted), 1), start), wanted[:, :-1]], axis=1)
            return Batch(read, wanted, wanted.size)

        return Examples(np.full(len(tokens_NT), tokens_NT.shape[1]), collate)
