"""The rows of Narang et al. 2021 (arXiv:2102.11972), table 1, as changes of one base model, with the published losses.

A row says what it changes in the `model` section of a recipe. The source of an encoder–decoder is like its target
unless the row says otherwise; a row that only makes sense for an encoder–decoder has no language model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from side_by_side import merged

Model = dict[str, Any]
WIDTH, HEADS, LAYERS, CONTEXT = 384, 6, 4, 256
SHARED: Model = {
    "width": WIDTH, "context": CONTEXT, "s": {"name": "attention", "heads": HEADS},
    "f": {"name": "mlp", "activation": "relu", "bias": False}, "norm": {"name": "layer"},
    "wiring": {"name": "pre_norm"}, "position": {"name": "relative_bias"},
    "embedding": {"name": "lookup", "deviation": 0.05}, "head": {"name": "tied"}}
BASES: dict[str, Model] = {
    "span_corruption": {**SHARED, "pattern": f"(sxf)*{LAYERS}", "x": {"name": "cross_attention", "heads": HEADS},
                        "source": {"pattern": f"(sf)*{LAYERS}", "shared_embedding": True}},
    "language": {**SHARED, "pattern": f"(sf)*{2 * LAYERS}"}}


@dataclass(frozen=True)
class Row:
    """One modification: its name in the paper, the published losses, and what it changes."""

    name: str
    early: float
    final: float
    change: Model = field(default_factory=dict)  # in both kinds of model
    source: Model = field(default_factory=dict)  # besides, in the source of an encoder–decoder
    target: Model = field(default_factory=dict)  # besides, in the target of an encoder–decoder
    language: Model | None = field(default_factory=dict)  # besides, in a language model; None: there is none
    close: bool = False  # to the vanilla model: trained with several seeds
    like: str = "vanilla"  # the row that it builds on

    def model(self, task: str) -> Model | None:
        """The whole model for a task."""
        base = BASES[task] if self.like == "vanilla" else next(r for r in ROWS if r.name == self.like).model(task)
        if task == "language":
            return None if self.language is None or base is None else merged(merged(base, self.change), self.language)
        assert base is not None
        return merged(merged(merged(base, self.change), self.target), {"source": self.source})


def activation(name: str) -> Model:
    return {"f": {"activation": name}}


def attending(name: str, **options: Any) -> Model:
    """Another attention over the sequence itself; to the source, attention stays full."""
    return {"s": {"attend": {"name": name, **options}}}


def _deep(name: str, early: float, final: float, layers: int, width: int, heads: int) -> Row:
    return Row(name, early, final, {"width": width, "s": {"heads": heads}}, {"pattern": f"(sf)*{layers}"},
               {"pattern": f"(sxf)*{layers}", "x": {"heads": heads}}, {"pattern": f"(sf)*{2 * layers}"})


SHARING = ({"pattern": f"[sf]*{LAYERS}"}, {"pattern": f"[sxf]*{LAYERS}"}, {"pattern": f"[sf]*{2 * LAYERS}"})
FACTORIZED = {"embedding": {"name": "factorized", "rank": WIDTH // 6, "deviation": 0.05}}
OWN_HEAD = {"head": {"name": "untied", "bias": False}}
EXPERT = SHARED["f"]
UNIVERSAL: Model = {"position": {"name": "none"}, "parts": {"t": "step_signal", "h": {"name": "halting"}}}
KEYS: Model = {"parts": {"m": {"name": "product_key_memory", "keys": 128}}}  # in the place of one feed-forward
MEMORY = (KEYS, {"pattern": f"(sf)*{LAYERS - 1}sm"} | KEYS, {"pattern": f"(sxf)*{LAYERS - 1}sxm"},
          {"pattern": f"(sf)*{2 * LAYERS - 1}sm"})
OWN, TO_SOURCE = {"name": "attention", "heads": HEADS}, {"name": "cross_attention", "heads": HEADS}
EVOLVED: tuple[Model, Model] = (  # a cell is two layers
    {"pattern": f"(gbsf)*{LAYERS // 2}", "parts": {"g": {"name": "gated_convolution", "kernel": 1},
                                                  "b": "evolved_encoder_branches"}},
    {"pattern": f"(abscf)*{LAYERS // 2}", "c": TO_SOURCE, "f": {"activation": "silu"},
     "parts": {"a": {"name": "side_by_side", "one": OWN, "other": TO_SOURCE}, "b": "evolved_decoder_branches"}})
BRANCHES = {"b": {"name": "weighted_branches", "attention": OWN}}
WEIGHTED: tuple[Model, Model, Model] = (
    {"pattern": f"b*{LAYERS}", "parts": BRANCHES},
    {"pattern": f"(sb)*{LAYERS}", "parts": {"b": {"name": "weighted_branches", "attention": TO_SOURCE}}},
    {"pattern": f"b*{2 * LAYERS}", "parts": BRANCHES})
ROWS: list[Row] = [
    Row("vanilla", 2.182, 1.838, close=True),
    Row("GeLU", 2.179, 1.838, activation("gelu"), close=True),
    Row("Swish", 2.186, 1.847, activation("silu"), close=True),
    Row("ELU", 2.270, 1.932, activation("elu")),
    Row("GLU", 2.174, 1.814, {"f": {"name": "glu"}}, close=True),
    Row("GeGLU", 2.130, 1.792, {"f": {"name": "geglu"}}, close=True),
    Row("ReGLU", 2.145, 1.803, {"f": {"name": "reglu"}}, close=True),
    Row("SeLU", 2.315, 1.948, activation("selu")),
    Row("SwiGLU", 2.127, 1.789, {"f": {"name": "swiglu"}}, close=True),
    Row("LiGLU", 2.149, 1.798, {"f": {"name": "liglu"}}, close=True),
    Row("Sigmoid", 2.291, 1.867, activation("sigmoid")),
    Row("Softplus", 2.207, 1.850, activation("softplus")),
    Row("RMS norm", 2.167, 1.821, {"norm": {"name": "rms"}}, close=True),
    Row("ReZero", 2.262, 1.939, {"wiring": {"name": "rezero"}}),
    Row("ReZero + LayerNorm", 2.223, 1.858, {"wiring": {"name": "rezero_norm"}}),
    Row("ReZero + RMS norm", 2.221, 1.875, {"wiring": {"name": "rezero_norm"}, "norm": {"name": "rms"}}),
    Row("Fixup", 2.382, 2.067, {"wiring": {"name": "fixup"}, "norm": {"name": "none"}}),
    _deep("depth × 2", 2.200, 1.843, 2 * LAYERS, 288, 6),
    _deep("depth × 1.5", 2.185, 1.831, 6, 320, 5),
    _deep("depth × 2/3", 2.190, 1.847, 3, 432, 6),
    _deep("depth × 1/2", 2.201, 1.857, 2, 512, 8),
    Row("block sharing", 2.497, 2.164, {}, *SHARING),
    Row("sharing + factorized embeddings", 2.631, 2.183, FACTORIZED | OWN_HEAD, *SHARING),
    Row("sharing + factorized and shared embeddings", 2.907, 2.385, FACTORIZED, *SHARING),
    Row("sharing in the encoder", 2.298, 1.929, {}, SHARING[0], language=None),
    Row("sharing in the decoder", 2.352, 2.082, {}, {}, SHARING[1], language=None),
    Row("factorized embedding", 2.208, 1.855, FACTORIZED | OWN_HEAD),
    Row("factorized and shared embeddings", 2.320, 1.952, FACTORIZED),
    Row("tied encoder and decoder input", 2.192, 1.840, OWN_HEAD, language=None),
    Row("tied decoder input and output", 2.187, 1.827, {}, {"shared_embedding": False}, language=None, close=True),
    Row("untied embeddings", 2.195, 1.834, OWN_HEAD, {"shared_embedding": False}),
    Row("adaptive input", 2.250, 1.899, {"embedding": {"name": "adaptive_input", "deviation": 0.05},
                                         "head": {"name": "adaptive_tied"}}),
    Row("adaptive softmax", 2.364, 1.982, {"head": {"name": "adaptive"}}),
    Row("adaptive softmax without projection", 2.229, 1.914, {"head": {"name": "adaptive_tied"}}),
    Row("mixture of softmaxes", 2.227, 1.821, {"head": {"name": "mixture_of_softmaxes", "components": 4}}),
    Row("transparent attention", 2.181, 1.874, {}, {}, {"x": {"name": "transparent_attention", "heads": HEADS}},
        language=None),
    Row("dynamic convolution", 2.403, 2.047, {"s": {"name": "dynamic_convolution", "heads": HEADS}}),
    Row("lightweight convolution", 2.370, 1.989, {"s": {"name": "lightweight_convolution", "heads": HEADS}}),
    Row("Evolved Transformer", 2.220, 1.863, {}, *EVOLVED, language=None),
    Row("Synthesizer dense", 2.334, 1.962, attending("synthesizer_dense")),
    Row("Synthesizer dense plus", 2.191, 1.840, attending("synthesizer_dense", dot="plus")),
    Row("Synthesizer dense plus alpha", 2.180, 1.828, attending("synthesizer_dense", dot="plus_alpha")),
    Row("Synthesizer factorized", 2.341, 1.968, attending("synthesizer_factorized")),
    Row("Synthesizer random", 2.326, 2.009, attending("synthesizer_random")),
    Row("Synthesizer random plus", 2.189, 1.842, attending("synthesizer_random", dot="plus")),
    Row("Synthesizer random plus alpha", 2.186, 1.828, attending("synthesizer_random", dot="plus_alpha")),
    Row("Universal Transformer", 2.406, 2.053, UNIVERSAL, {"pattern": f"[tsfh]*{LAYERS}"} | UNIVERSAL,
        {"pattern": f"[tsxfh]*{LAYERS}"}, {"pattern": f"[tsfh]*{2 * LAYERS}"}),
    Row("mixture of experts", 2.148, 1.785, {"f": {"name": "mixture_of_experts", "experts": 8, "chosen": 2,
                                                    "expert": EXPERT | {"hidden": 2 * WIDTH}}}, close=True),
    Row("Switch", 2.135, 1.758, {"f": {"name": "switch", "experts": 8, "expert": EXPERT}}, close=True),
    Row("Funnel", 2.288, 1.918, {}, {"pattern": f"(sf)*{LAYERS // 2}p(sf)*{LAYERS // 2}", "parts": {"p": "pool"}},
        language=None),
    Row("Weighted Transformer", 2.378, 1.989, {}, *WEIGHTED),
    Row("product-key memory", 2.155, 1.798, *MEMORY),
]
