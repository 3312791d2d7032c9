"""Vectors that another program learned: there is nothing to train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from chainrule.errors import UsageError
from chainrule.recipe.registry import part
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.text import Source, Text
from chainrule.vectors.training_options import TrainingOptions


@part
class Imported:
    """Stands in the recipe of vectors that `chainrule import` took from a file; it trains nothing."""

    usual: ClassVar[Mapping[str, float]] = {}
    continues: ClassVar[bool] = False

    def read(self, source: Source) -> Text:
        raise UsageError("model.method = imported, expected a method that learns, such as skipgram: these vectors came "
                         "from another program's file.")

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        raise AssertionError("nothing is read, so nothing can be learned")
