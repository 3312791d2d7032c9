"""The sentence of sublayers on the project's own engine: NumPy alone, with the weights of the torch stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from chainrule.engine import Composite, Parameter, Tensor
from chainrule.engine.modules.concatenate import Concatenate
from chainrule.engine.modules.dot_product_attention import DotProductAttention
from chainrule.engine.modules.dropout import Dropout
from chainrule.engine.modules.embedding import Embedding
from chainrule.engine.modules.layer_norm import LayerNorm
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.mlp import MLP
from chainrule.engine.modules.multi_head_attention import MultiHeadAttention
from chainrule.engine.modules.rms_norm import RMSNorm
from chainrule.engine.modules.rotary import angles, turned
from chainrule.engine.modules.self_attention import heads_of
from chainrule.engine.modules.swiglu import SwiGLU
from chainrule.engine.tensor import taping
from chainrule.errors import OptionError
from chainrule.models.pattern import sublayers
from chainrule.recipe.registry import find
from chainrule.watching import note, placed, watched

LETTERS = "srwf"
Random = np.random.Generator


@dataclass(frozen=True)
class EngineShape:
    """Everything that an engine stack is built from."""

    pattern: str = "(sf)*4"
    width: int = 128
    context: int = 64
    heads: int = 4  # of s
    bias: bool = False  # in the linear maps of s
    recurrence: Literal["elman", "ugrnn", "gru", "lstm"] = "lstm"  # r
    gain: float = 1.0  # of an elman's first recurrent matrix: above 1 gradients explode, below they vanish
    forget: float = 1.0  # the first bias of the gate by which an lstm or ugrnn remembers
    window: int = 5  # tokens of w
    feedforward: str = "swiglu"  # f: swiglu, or the activation of a plain one
    norm: Literal["rms", "layer", "none"] = "rms"
    wiring: Literal["pre_norm", "residual", "plain"] = "pre_norm"
    position: Literal["rotary", "learned", "none"] = "rotary"
    head: Literal["tied", "untied"] = "tied"
    deviation: float = 0.1  # of the embedding's first values
    dropout: float = 0.0


class Recurrence(Composite):
    """A recurrent sublayer; its state is a constant for the next stretch of text."""

    def __init__(self, shape: EngineShape, random: Random):
        self.cell: Any = find("engine/modules", shape.recurrence)(shape.width, shape.width, random=random)
        if shape.recurrence == "elman":  # orthogonal, so that gradients neither vanish nor explode at first
            turn = np.linalg.qr(random.normal(size=(shape.width,) * 2))[0]
            self.cell.recurrent.value = (shape.gain * turn).astype(np.float32)
        if shape.recurrence in ("lstm", "ugrnn"):  # a fresh network remembers
            self.cell.bias.value[shape.width:2 * shape.width] = shape.forget

    def start(self, batch: int) -> Any:
        return tuple(self.cell.start(batch))

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        if watched() and taping():
            return self._by_steps(x, state)
        y, *after = self.cell(x, *state)
        return y, tuple(each.value for each in after)

    def _by_steps(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        """The same with each step's h in the graph by itself, for gradients through time."""
        steps = []
        for t in range(x.shape[1]):
            _, *state = self.cell(x[:, t:t + 1], *state)
            steps.append(state[0])
        note("steps", tuple(steps))
        y = Concatenate(axis=1)(*(h.reshape(len(h.value), 1, -1) for h in steps))
        return y, tuple(each.value for each in state)


class Attention(MultiHeadAttention):
    """With a cache for a few tokens at a time: keys and values (B, H, room, E), and how many of them are there (B,)."""

    def start(self, batch: int) -> Any:
        heads, width = self.attend.heads, self.outward.weight.shape[1]
        keys, values = np.empty((2, batch, heads, 0, width // heads), self.outward.weight.value.dtype)
        return keys, values, np.zeros(batch, np.int64)

    def step(self, x: Tensor, cache: Any) -> tuple[Tensor, Any]:
        """For use alone, not for training: what it gives are constants, and the cache is written to."""
        batch, length, width = x.shape
        q, k, v = heads_of(self.inward(x).value, self.attend.heads)
        keys, values, there = cache
        before = int(there.max(initial=0))
        if self.attend.rotary is not None:
            around = angles(length, q.shape[3], self.attend.rotary, before, q.dtype.str)
            q, k = turned(q, *around), turned(k, *around)
        keys, values = (_extended(*pair, before) for pair in ((keys, k), (values, v)))
        y = DotProductAttention(causal=True)(q, *(each[:, :, :before + length] for each in (keys, values))).value
        y = self.outward(y.transpose(0, 2, 1, 3).reshape(batch, length, width))
        return y, (keys, values, there + length)


def _extended(room: np.ndarray, new: np.ndarray, before: int) -> np.ndarray:
    """The new entries behind those that are there, in a room twice as large where they do not fit."""
    after = before + new.shape[2]
    if after > room.shape[2]:
        larger = np.empty((*room.shape[:2], max(after, 2 * room.shape[2]), room.shape[3]), room.dtype)
        larger[:, :, :before] = room[:, :, :before]
        room = larger
    room[:, :, before:after] = new
    return room


class Window(Composite):
    """y_t = W [x_{t−size+1}; …; x_t] + b. Bengio et al. 2003, JMLR 3, eq. 1; zeros before the text."""

    def __init__(self, shape: EngineShape, depth: int, random: Random):
        self.size, self.width = shape.window, shape.width
        inputs = self.size * self.width
        self.outward = Linear(inputs, self.width, deviation=(inputs * depth) ** -0.5, random=random)

    def start(self, batch: int) -> Any:
        return (np.zeros((batch, self.size - 1, self.width), self.outward.weight.value.dtype),)

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        whole, length = Concatenate(axis=1)(state[0], x), x.shape[1]
        near = Concatenate(axis=-1)(*(whole[:, offset:offset + length] for offset in range(self.size)))
        return self.outward(near), (whole.value[:, length:],)


class Wiring(Composite):
    """How a sublayer is put into the stream: y = x + dropout(f(norm(x))), without norm, or f alone."""

    def __init__(self, shape: EngineShape):
        self.kind = shape.wiring
        if shape.wiring == "pre_norm" and shape.norm != "none":
            self.norm = _norm(shape)
        self.dropout = Dropout(rate=shape.dropout)


class Sublayer(Composite):
    """One letter of the sentence in its wiring."""

    def __init__(self, letter: str, shape: EngineShape, depth: int, random: Random):
        self.carries = letter in "rw"
        self.body: Any = _body(letter, shape, depth, random)
        self.wiring = Wiring(shape)

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        if watched() and taping():
            note("inward", x)
        inward = self.wiring.norm(x) if hasattr(self.wiring, "norm") else x
        if state is None:
            y, after = self.body(inward), None
        else:
            y, after = self.body.step(inward, state) if isinstance(self.body, Attention) else self.body(inward, state)
        y = self.wiring.dropout(y) if self.wiring.dropout.rate and self.training else y
        y = y if self.wiring.kind == "plain" else x + y
        note("output", y.value)
        return y, after


class EngineStack(Composite):
    """embedding → sublayers → norm → head; parameters have the names that the torch stack gives them."""

    def __init__(self, shape: EngineShape, vocabulary_size: int, random: Random):
        letters = sublayers(shape.pattern)
        if odd := [letter for letter in letters if letter not in LETTERS]:
            raise OptionError("model.pattern", shape.pattern, "the letters s, r, w and f",
                              f"The engine has no part for {odd[0]!r}; the family neural has.")
        self.shape, self.letters = shape, letters
        self.embedding = Embedding(vocabulary_size, shape.width, deviation=shape.deviation, random=random)
        self.position = Embedding(shape.context, shape.width, random=random) if shape.position == "learned" else None
        self.dropout = Dropout(rate=shape.dropout)
        self.sublayers = [Sublayer(letter, shape, len(letters), random) for letter in letters]
        self.norm = _norm(shape) if shape.wiring == "pre_norm" and shape.norm != "none" else None
        self.head = Linear(shape.width, vocabulary_size, bias=shape.head == "untied", deviation=0.02, random=random)
        if shape.head == "tied":
            self.head.weight = self.embedding.weight

    @property
    def bounded(self) -> bool:
        """Whether it can read only so many tokens at once: attention, or learned positions."""
        return "s" in self.letters or self.position is not None

    def start(self, batch: int) -> tuple[Any, ...]:
        """The state of each sublayer before the first token; of attention an empty cache."""
        return tuple(layer.body.start(batch) if hasattr(layer.body, "start") else None for layer in self.sublayers)

    def forward(self, ids: np.ndarray, states: tuple[Any, ...] | None = None, offset: int = 0
                ) -> tuple[Tensor, tuple[Any, ...]]:
        """(B, T) ids to (B, T, D), ready for the head, and the states after them; `offset` tokens went before."""
        x = self.embedding(ids)
        if self.position is not None:
            x = x + self.position(np.arange(offset, offset + ids.shape[1]))
        if self.dropout.rate and self.training:
            x = self.dropout(x)
        note("stack", self)
        note("embedded", x.value)
        before = states
        if before is None:
            before = tuple(layer.body.start(len(ids)) if layer.carries else None for layer in self.sublayers)
        after = []
        for n, (layer, state) in enumerate(zip(self.sublayers, before, strict=True)):
            x, state = placed(f"sublayers.{n}", layer, x, state)
            after.append(state)
        return (x if self.norm is None else self.norm(x)), tuple(after)

    def flops_per_token(self, context: int) -> float:
        """Forward and backward as `chainrule cost` counts them: matrix products, attention over the whole context."""
        weights = sum(each.weight.value.size for _, each in self.modules() if isinstance(each, Linear))
        weights += sum(each.cell.inward.value.size + each.cell.recurrent.value.size
                       for _, each in self.modules() if isinstance(each, Recurrence))
        return 3 * (2.0 * weights + 4.0 * context * self.shape.width * self.letters.count("s"))

    def draw(self, seed: int, step: int) -> None:
        """What dropout leaves out is a function of seed and step, so that resuming needs no memory of it."""
        for number, (_, module) in enumerate(self.modules()):
            if isinstance(module, Dropout) and module.rate:
                module.random = np.random.default_rng([seed, step, number])


def _norm(shape: EngineShape) -> RMSNorm | LayerNorm:
    return RMSNorm(shape.width) if shape.norm == "rms" else LayerNorm(shape.width)


def _body(letter: str, shape: EngineShape, depth: int, random: Random) -> Composite:
    if letter == "s":
        if shape.width % shape.heads:
            raise OptionError("model.heads", shape.heads, f"a divisor of model.width = {shape.width}")
        return Attention(shape.width, depth, heads=shape.heads, bias=shape.bias, random=random,
                         rotary=10_000.0 if shape.position == "rotary" else None)
    if letter == "r":
        return Recurrence(shape, random)
    if letter == "w":
        return Window(shape, depth, random)
    if shape.feedforward == "swiglu":
        return SwiGLU(shape.width, depth, random=random)
    return MLP(shape.width, depth, activation=shape.feedforward, random=random)


def parameters_by_torch_name(stack: EngineStack) -> dict[str, Parameter]:
    """The stack's own parameters; recurrent ones as torch's fused cells call them."""
    fused = {"inward": "fused.weight_ih_l0", "recurrent": "fused.weight_hh_l0", "bias": "fused.bias_ih_l0",
             "recurrent_bias": "fused.bias_hh_l0"}
    found = {}
    for name, parameter in stack.named_parameters().items():
        way, _, last = name.rpartition(".")
        if way.endswith(".cell") and stack.shape.recurrence != "ugrnn":
            name = f"{way}.{fused[last]}"
        found[name] = parameter
    return found


def exported(stack: EngineStack) -> dict[str, np.ndarray]:
    """The weights as the torch stack of the same shape has them: there Elman and LSTM cells have two biases."""
    found = {name: each.value for name, each in parameters_by_torch_name(stack).items()}
    for name in [name for name in found if name.endswith("fused.bias_ih_l0")]:
        found.setdefault(name.replace("bias_ih", "bias_hh"), np.zeros_like(found[name]))
    return found


def imported(stack: EngineStack, given: dict[str, np.ndarray]) -> None:
    """The reverse: two biases that are only ever added become one."""
    own = parameters_by_torch_name(stack)
    merged = dict(given)
    for name in [name for name in given if name.endswith("fused.bias_hh_l0") and name not in own]:
        merged[name.replace("bias_hh", "bias_ih")] = given[name.replace("bias_hh", "bias_ih")] + merged.pop(name)
    names = {id(parameter): name for name, parameter in stack.named_parameters().items()}
    stack.load({names[id(own[name])] if name in own else name: value for name, value in merged.items()})
