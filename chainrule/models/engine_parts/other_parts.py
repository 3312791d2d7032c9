"""Parts on the engine that are not sublayers: norms, wirings, positions, embedding, head, dropout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainrule.engine import Composite, Tensor
from chainrule.engine.modules.dropout import Dropout
from chainrule.engine.modules.embedding import Embedding
from chainrule.engine.modules.layer_norm import LayerNorm
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.rms_norm import RMSNorm
from chainrule.engine.modules.softmax_cross_entropy import SoftmaxCrossEntropy
from chainrule.models.engine_parts.twin import stands_for
from chainrule.parts.place import Place

Options = Mapping[str, Any]
Random = np.random.Generator


@stands_for("parts/norms/rms", takes=("epsilon",))
class RMS(RMSNorm):
    """Mean square 1 over the width."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.width, epsilon=options["epsilon"])


@stands_for("parts/norms/layer", takes=("epsilon", "bias"))
class Layer(LayerNorm):
    """Mean 0 and variance 1 over the width."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.width, epsilon=options["epsilon"], bias=options["bias"])


@stands_for("parts/norms/none")
class NoNorm:
    """Numbers pass as they are."""

    def __init__(self, place: Place, options: Options, random: Random):
        pass

    def __call__(self, x: Tensor) -> Tensor:
        return x


class Wiring(Composite):
    """How a sublayer is connected to the residual stream; the stack supplies norm and dropout."""

    norms = False  # what goes into the sublayer, and the end of the stack
    adds = True  # to the stream

    def __init__(self, place: Place, options: Options, random: Random):
        pass

    def dressed(self, norm: Any, dropout: Dropout) -> Wiring:
        """Sets the parts that it needs."""
        if self.norms:
            self.norm = norm
        self.dropout = dropout
        return self

    def forward(self, x: Tensor, sublayer: Any) -> tuple[Tensor, Any]:
        y, after = sublayer(self.norm(x) if self.norms else x)
        y = self.dropout(y) if self.dropout.rate and self.training else y
        return (x + y if self.adds else y), after


@stands_for("parts/wirings/pre_norm")
class PreNorm(Wiring):
    """y = x + dropout(f(norm(x)))."""

    norms = True


@stands_for("parts/wirings/residual")
class Residual(Wiring):
    """y = x + dropout(f(x))."""


@stands_for("parts/wirings/plain")
class Plain(Wiring):
    """y = dropout(f(x))."""

    adds = False


class Position:
    """The position of a token; this base class adds nothing."""

    turns = bounded = False

    def __init__(self, place: Place, options: Options, random: Random):
        pass

    def __call__(self, x: Tensor, positions: np.ndarray) -> Tensor:
        return x


@stands_for("parts/positions/none")
class NoPosition(Position):
    """No positions."""


@stands_for("parts/positions/rotary", takes=("base",))
class Rotary(Position):
    """Attention rotates queries and keys by it."""

    turns = True

    def __init__(self, place: Place, options: Options, random: Random):
        self.base = options["base"]


@stands_for("parts/positions/learned", takes=("deviation",))
class Learned(Embedding):
    """A vector for each place, added to the embedding."""

    turns, bounded = False, True

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.context, place.width, deviation=options["deviation"], random=random)

    def __call__(self, x: Tensor, positions: np.ndarray) -> Tensor:
        return x + super().__call__(positions)


@stands_for("parts/embeddings/lookup", takes=("deviation",), only={"scale": ("one",)},
            training={"word_dropout": 0.0})
class Lookup(Embedding):
    """A row for each token."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.vocabulary, place.width, deviation=options["deviation"], random=random)


class Head(Linear):
    """Scores of all tokens, their loss and their ln p."""

    tied = False

    def loss(self, hidden: Tensor, targets: np.ndarray, *, smoothing: float = 0.0) -> Tensor:
        """Σ −ln p(target), as of torch's heads."""
        scores = self(hidden)
        return SoftmaxCrossEntropy()(scores, smoothed(targets, scores, smoothing)) * float(targets.size)

    def log_probs(self, hidden: np.ndarray, never: tuple[int, ...] = ()) -> np.ndarray:
        """(…, V): ln p of every token but those that have no probability."""
        scores = self(hidden).value
        for each in never:
            scores[..., each] = -np.inf
        scores -= scores.max(axis=-1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        return scores


@stands_for("parts/heads/tied", only={"bias": (False,)})
class Tied(Head):
    """The matrix is the embedding's; the stack sets it."""

    tied = True

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.width, place.outputs, bias=False, deviation=0.02, random=random)


@stands_for("parts/heads/untied", takes=("bias", "deviation"))
class Untied(Head):
    """A matrix of its own."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place.width, place.outputs, bias=options["bias"], deviation=options["deviation"],
                         random=random)


@stands_for("parts/dropouts/independent", takes=("rate",), training={"input": None})
class Independent(Dropout):
    """Every number is left out by itself."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(rate=options["rate"])


@stands_for("parts/dropouts/variational", takes=("rate",),
            training={"name": "independent", "input": None, "output": None})
class Variational(Independent):
    """The same outside training, where it does nothing; the engine trains with independent dropout."""


def smoothed(wanted: np.ndarray, scores: Tensor, smoothing: float) -> np.ndarray:
    """(1 − ε) one-hot + ε/V. Szegedy et al. 2016, arXiv:1512.00567, §7; without ε the classes as they are."""
    if not smoothing:
        return wanted
    target = np.full(scores.shape, smoothing / scores.shape[-1], scores.value.dtype)
    np.put_along_axis(target, wanted[..., None], 1 - smoothing + smoothing / scores.shape[-1], -1)
    return target
