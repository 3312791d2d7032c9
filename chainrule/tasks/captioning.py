"""Captioning: an image becomes a text that describes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.inputs.captioned import Columns, open_captioned
from chainrule.protocols import Translator
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import part
from chainrule.task_protocols import Small
from chainrule.tasks._pairs import SequenceToSequence
from chainrule.tasks._task import refuse_target


@part
class Captioning(SequenceToSequence):
    """An image becomes a text that describes it.

    −1/T Σ_t ln p(w_t | w_<t, image), the end mark included.

    Xu et al. 2015, arXiv:1502.03044: the decoder looks at places of the image. `source` and `target` are the columns of
    a table that have the images and their captions; rows with the same image are several captions of it. `split` is
    the column that says to which part a row belongs, `folder` where the images lie: a folder, or a .tar file.
    """

    ability = Translator
    kind = "captioner"
    uses = ("describe {run} IMAGE", "evaluate {run} --data TABLE", "inspect {run} IMAGE")
    view = "captions"
    caution = ("It describes as its training captions do, with their guesses about people, and may name what the image "
               "does not show.")
    measure_name = "bleu"
    units = "images"

    def __init__(self, *, source: str | int = "image", target: str | int = "caption", split: str | None = "split",
                 folder: str | None = None, tokenize: Literal["13a", "none", "char", "intl", "zh"] = "13a",
                 inputs: Annotated[Choice, PartOf("inputs/modalities")] = "images"):
        super().__init__(source=source, target=target, inputs=inputs)
        if not self.modality.whole:
            raise OptionError("task.inputs", self.modality.called, "images", "Texts are translated, recordings "
                              "transcribed.")
        self.columns_of_table = Columns(str(source), str(target), split, folder)
        self.tokenize = tokenize

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        refuse_target(self, target)
        return data if hasattr(data, "fingerprint") else open_captioned(data, self.columns_of_table, recipe.text)

    def split(self, corpus: Any, fraction: float, seed: int) -> tuple[Any, Any]:
        """By images: captions of one are never on both sides."""
        train, held = (corpus.taken(own.rule) for own in super().split(corpus, fraction, seed))
        return train, held

    def fold(self, corpus: Any, k: int, count: int, seed: int) -> tuple[Any, Any]:
        train, held = (corpus.taken(own.rule) for own in super().fold(corpus, k, count, seed))
        return train, held

    def small(self, folder: Path) -> Small:
        """Bright and dark noise, 16 × 16 pixels, in one array: it needs no Pillow."""
        draw = np.random.default_rng(0)
        pixels = [draw.integers(low, low + 100, (16, 16, 3), np.uint8) for low in (0, 150) * 4]
        np.save(folder / "photos.npy", np.stack(pixels))
        rows = [f"photos.npy#{n}\t{which} {said}" for n, which in enumerate(["a dark", "a bright"] * 4)
                for said in ("picture", "photo of noise")]
        (folder / "captions.tsv").write_text("\n".join(["image\tcaption", *rows]) + "\n", encoding="utf-8")
        return Small(folder / "captions.tsv", recipe={"model": {"pattern": "sxf", "context": 32, "source": {
            "pattern": "", "width": 16, "position": "none", "embedding": "patches"}}})

    def judged(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], draws: int) -> dict[str, Any]:
        from chainrule.evaluation.translations import translation_figures

        return translation_figures(hypotheses, references, self.tokenize, draws)

    def table(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        from chainrule.evaluation.translations import bleu_table

        return bleu_table(hypotheses, references, self.tokenize)

    def rules(self, train: Any, held_out: Any) -> dict[str, list[str]]:
        """The captions of the training images that look most alike."""
        from chainrule.tasks._nearest_captions import nearest_captions

        return {"caption of the nearest image": nearest_captions(train, held_out.sources, self.modality)}
