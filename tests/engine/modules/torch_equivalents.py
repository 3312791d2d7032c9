"""What PyTorch says each engine module computes: f(module, parameters by name, *inputs), all of them torch tensors."""

import torch
from torch.nn import functional as F

Tensor = torch.Tensor


def cell(kind, cell_inputs):
    """torch's own cell with the module's weights; both biases are one here, except in a GRU."""
    def f(m, p, x, *states):
        own = kind(x.shape[1], m.hidden, dtype=x.dtype)
        weights = {"weight_ih": p["inward"], "weight_hh": p["recurrent"], "bias_ih": p["bias"],
                   "bias_hh": p.get("recurrent_bias", torch.zeros_like(p["bias"]))}
        return torch.func.functional_call(own, weights, (x, cell_inputs(states)))
    return f


def layer(kind):
    def f(m, p, x, *states):
        own = kind(x.shape[2], m.hidden, batch_first=True, dtype=x.dtype)
        weights = {"weight_ih_l0": p["inward"], "weight_hh_l0": p["recurrent"], "bias_ih_l0": p["bias"],
                   "bias_hh_l0": p.get("recurrent_bias", torch.zeros_like(p["bias"]))}
        start = tuple(each[None] for each in states)
        y, last = torch.func.functional_call(own, weights, (x, start if len(start) > 1 else start[0]))
        return (y, *(each[0] for each in (last if isinstance(last, tuple) else (last,))))
    return f


def ugrnn_step(m, p, x, h):
    a = F.linear(x, p["inward"], p["bias"]) + F.linear(h, p["recurrent"])
    c, g = a.chunk(2, 1)
    return torch.lerp(c.tanh(), h, g.sigmoid())


def ugrnn(m, p, x, h):
    steps = []
    for t in range(x.shape[1]):
        h = ugrnn_step(m, p, x[:, t], h)
        steps.append(h)
    return torch.stack(steps, 1), h


def dropout(m, p, x):
    """The same mask; that it is drawn as it should be is tested elsewhere."""
    import numpy as np

    kept = np.random.default_rng(1).random(tuple(x.shape), np.float32) >= m.rate
    return x * torch.from_numpy(kept) / (1 - m.rate)


def turned(x, base, offset=0):
    """Complex numbers times e^{i t θ}; the last number of an odd width stays."""
    half = x.shape[-1] // 2
    angle = torch.outer(torch.arange(x.shape[-2]) + offset,
                        base ** (-torch.arange(half, dtype=x.dtype) / half)).to(x.dtype)
    y = torch.complex(x[..., :half], x[..., half:2 * half]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([y.real, y.imag, x[..., 2 * half:]], -1)


def self_attention(m, p, qkv):
    q, k, v = (each.unflatten(-1, (m.heads, -1)).transpose(1, 2) for each in qkv.chunk(3, -1))
    if m.rotary is not None:
        q, k = turned(q, m.rotary), turned(k, m.rotary)
    return F.scaled_dot_product_attention(q, k, v, is_causal=m.causal).transpose(1, 2).flatten(2)


def linear(p, name, x):
    return F.linear(x, p[f"{name}.weight"], p.get(f"{name}.bias"))


def multi_head_attention(m, p, x, way=""):
    return linear(p, f"{way}outward", self_attention(m.attend, p, linear(p, f"{way}inward", x)))


def swiglu(m, p, x, way=""):
    a, b = linear(p, f"{way}inward", x).chunk(2, -1)
    return linear(p, f"{way}outward", F.silu(a) * b)


def transformer_block(m, p, x):
    n = F.rms_norm(x, x.shape[-1:], p["attention_norm.gain"], m.attention_norm.epsilon)
    x = x + multi_head_attention(m.attention, p, n, "attention.")
    n = F.rms_norm(x, x.shape[-1:], p["feedforward_norm.gain"], m.feedforward_norm.epsilon)
    return x + swiglu(m.feedforward, p, n, "feedforward.")


def additive_attention(m, p, q, k, v, mask):
    h = torch.tanh(F.linear(q, p["query"])[:, :, None] + F.linear(k, p["key"])[:, None])
    return (h @ p["score"]).masked_fill(~mask, -torch.inf).softmax(-1) @ v


def dot_product_attention(m, p, q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def softmax_cross_entropy(m, p, x, target):
    return F.cross_entropy(x.flatten(0, -2), target.flatten(0, -2))


EQUIVALENTS = {
    "add": lambda m, p, a, b: a + b,
    "additive_attention": additive_attention,
    "batched_matmul": lambda m, p, a, b: a @ b,
    "bias": lambda m, p, x: x + p["bias"],
    "concatenate": lambda m, p, *x: torch.cat(x, m.axis),
    "convolution_1d": lambda m, p, x: F.conv1d(x, p["weight"], p["bias"], stride=m.stride, padding=1),
    "convolution_2d": lambda m, p, x: F.conv2d(x, p["weight"], p["bias"], stride=m.stride, padding=1),
    "cross_entropy": lambda m, p, x, t: -(t * x.log()).sum(-1).mean(),
    "divide": lambda m, p, a, b: a / b,
    "dot_product_attention": dot_product_attention,
    "dropout": dropout,
    "elman": layer(torch.nn.RNN),
    "elman_cell": cell(torch.nn.RNNCell, lambda states: states[0]),
    "embedding": lambda m, p, ids: F.embedding(ids, p["weight"]),
    "exp": lambda m, p, x: x.exp(),
    "gather": lambda m, p, x, index: x.gather(m.axis, index),
    "gelu": lambda m, p, x: F.gelu(x),
    "gelu_tanh": lambda m, p, x: F.gelu(x, approximate="tanh"),
    "gru": layer(torch.nn.GRU),
    "gru_cell": cell(torch.nn.GRUCell, lambda states: states[0]),
    "layer_norm": lambda m, p, x: F.layer_norm(x, x.shape[-1:], p["gain"], p["bias"], m.epsilon),
    "linear": lambda m, p, x: F.linear(x, p["weight"], p["bias"]),
    "log": lambda m, p, x: x.log(),
    "log_softmax": lambda m, p, x: x.log_softmax(m.axis),
    "lstm": layer(torch.nn.LSTM),
    "lstm_cell": cell(torch.nn.LSTMCell, lambda states: states),
    "matmul": lambda m, p, a, b: a @ b,
    "max_pooling": lambda m, p, x: F.max_pool2d(x, m.size, m.stride),
    "maximum": lambda m, p, a, b: torch.maximum(a, b),
    "mean": lambda m, p, x: x.mean(m.axis),
    "mean_pooling": lambda m, p, x: F.avg_pool2d(x, m.size, m.stride),
    "mlp": lambda m, p, x: linear(p, "outward", F.gelu(linear(p, "inward", x))),
    "multi_head_attention": multi_head_attention,
    "multiply": lambda m, p, a, b: a * b,
    "power": lambda m, p, a, b: a**b,
    "relu": lambda m, p, x: x.relu(),
    "reshape": lambda m, p, x: x.reshape(m.shape),
    "rms_norm": lambda m, p, x: F.rms_norm(x, x.shape[-1:], p["gain"], m.epsilon),
    "rotary": lambda m, p, x: turned(x, m.base, m.offset),
    "self_attention": self_attention,
    "sigmoid": lambda m, p, x: x.sigmoid(),
    "silu": lambda m, p, x: F.silu(x),
    "silu_gate": lambda m, p, x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1],
    "slice": lambda m, p, x: x[m.index],
    "softmax": lambda m, p, x: x.softmax(m.axis),
    "softmax_cross_entropy": softmax_cross_entropy,
    "subtract": lambda m, p, a, b: a - b,
    "sum": lambda m, p, x: x.sum(m.axis),
    "swiglu": swiglu,
    "tanh": lambda m, p, x: x.tanh(),
    "transformer_block": transformer_block,
    "transpose": lambda m, p, x: x.permute(m.axes),
    "ugrnn": ugrnn,
    "ugrnn_cell": ugrnn_step,
}
