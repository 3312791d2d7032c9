"""fastText: skip-gram or CBOW over words and their character n-grams."""

from __future__ import annotations

from typing import Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.recipe.registry import part
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.methods._windows import (
    FOR_CBOW,
    WindowMethod,
    check_size,
    objective_of,
    what_predicts,
    with_outputs,
)
from chainrule.vectors.subwords import bags_of
from chainrule.vectors.text import Text, spellings
from chainrule.vectors.training_options import TrainingOptions
from chainrule.vectors.windows import Bags, Tables, fresh, learn


@part
class FastText(WindowMethod):
    r"""Gives a word the mean of its own vector and those of its character n-grams, so that unseen words have one too.

    v(w) = (z_w + Σ_{g ∈ G(w)} z_g) / (1 + |G(w)|),   G(w): n-grams of <w>, hashed into `bucket` rows
    Bojanowski et al. 2017, arXiv:1607.04606. Rows exist only for buckets that some word of the text needs. Noise words
    are drawn by the square roots of counts, as in fastText's program; 0.75, as in word2vec, answered fewer analogies.
    """

    def __init__(self, *, predicts: Literal["skipgram", "cbow"] = "skipgram",
                 loss: Literal["negative_sampling", "hierarchical_softmax", "softmax"] = "negative_sampling",
                 negative: int = 5, ns_exponent: float = 0.5, min_n: int = 3, max_n: int = 6,
                 bucket: int = 2_000_000) -> None:
        if not 1 <= min_n <= max_n:
            raise OptionError("model.method.min_n", min_n, f"1 to max_n, {max_n}", "Or take skipgram: no n-grams.")
        if not 1 <= bucket < 2**31:
            raise OptionError("model.method.bucket", bucket, f"at least 1 and at most {2**31 - 1:,}, as in fastText")
        self.objective = objective_of(from_context=predicts == "cbow", loss=loss, negative=negative,
                                      ns_exponent=ns_exponent, where="model.method")
        self.usual = FOR_CBOW if predicts == "cbow" else self.usual
        self.shape = min_n, max_n, bucket

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        check_size(text, self.objective)
        bags, used = bags_of(spellings(text.tokenizer), *self.shape)
        tables = fresh(text, options, self.objective, bags)
        if before is not None:
            tables = _put_back(before, tables, used, options)
        facts = learn(text, options, self.objective, bags, tables)
        size, d = text.vocabulary_size, options.dimension
        tensors = {"vectors": means(bags, tables.inputs, size)[:, :d], "words": tables.inputs[:size, :d],
                   "grams": tables.inputs[size:, :d], "buckets": used, "shape": np.array(self.shape, np.int64),
                   **what_predicts(tables, options)}
        return Learned(tensors, {**facts, "ngrams": len(used)})


def means(bags: Bags, table: np.ndarray, size: int) -> np.ndarray:
    """(V, width): each word's vector, the mean of its rows."""
    from chainrule.kernels.vectors_subwords import mean_rows

    found = np.empty((size, table.shape[1]), np.float32)
    mean_rows(table, bags.starts, bags.members, found)
    return found


def _put_back(before: Tensors, tables: Tables, used: np.ndarray, options: TrainingOptions) -> Tables:
    """The rows of an earlier run; new words and new buckets begin as they would anyway."""
    d, size = options.dimension, len(before["words"])
    known = ~np.isnan(before["words"][:, 0])
    tables.inputs[:size][known, :d] = before["words"][known]
    where = np.minimum(np.searchsorted(before["buckets"], used), len(before["buckets"]) - 1)
    same = before["buckets"][where] == used
    tables.inputs[size:][same, :d] = before["grams"][where[same]]
    return with_outputs(before, tables, options)
