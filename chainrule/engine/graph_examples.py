"""Small example graphs, as lectures draw them: a product of a sum, and a neuron."""

from __future__ import annotations

from chainrule.engine.tensor import Tensor


def product() -> Tensor:
    """f(x, y, z) = (x + y) z at x = −2, y = 5, z = −4; gradients −4, −4 and 3."""
    x, y, z = Tensor(-2.0, name="x"), Tensor(5.0, name="y"), Tensor(-4.0, name="z")
    return (x + y) * z


def neuron() -> Tensor:
    """f(w, x) = 1 / (1 + e^−(w₀x₀ + w₁x₁ + w₂)) gate by gate, at w = (2, −3, −3) and x = (−1, −2)."""
    w0, w1, w2 = (Tensor(value, name=f"w{n}") for n, value in enumerate((2.0, -3.0, -3.0)))
    x0, x1 = (Tensor(value, name=f"x{n}") for n, value in enumerate((-1.0, -2.0)))
    return 1.0 / (1.0 + (-1.0 * (w0 * x0 + w1 * x1 + w2)).exp())


EXAMPLES = {"neuron": neuron, "product": product}
