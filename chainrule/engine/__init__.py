"""Reverse-mode automatic differentiation on NumPy: tensors, modules, two backward passes, checks and pictures."""

from chainrule.engine.batches import minibatches
from chainrule.engine.checking import Checked, GradientError, gradcheck
from chainrule.engine.clipping import clip_norm, clip_value
from chainrule.engine.differentiation import backward, gather, scatter
from chainrule.engine.module import Composite, Module
from chainrule.engine.picture import Graph, graph
from chainrule.engine.tensor import Parameter, Tensor, untaped

__all__ = ["Checked", "Composite", "GradientError", "Graph", "Module", "Parameter", "Tensor", "backward", "clip_norm",
           "clip_value", "gather", "gradcheck", "graph", "minibatches", "scatter", "untaped"]
