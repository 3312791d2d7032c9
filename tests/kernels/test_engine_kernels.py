"""Kernels of the engine equal the NumPy lines that are kept beside them."""

import numpy as np
import pytest

from chainrule.engine import Parameter
from chainrule.engine.modules.linear import Linear
from chainrule.kernels.engine_products import outer
from chainrule.recipe.registry import build


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_fused_step_is_the_plain_one(name, kind):
    random = np.random.default_rng(0)
    pair = [[Parameter(value.astype(kind)) for value in (first, second)]
            for first, second in [(random.normal(size=(7, 5)), random.normal(size=3))] for _ in range(2)]
    plain, fused = (build("engine/optimizers", name, parameters) for parameters in pair)
    assert not plain.fused
    fused.fused = True
    for _ in range(10):
        for one, other in zip(*pair, strict=True):
            one.grad = other.grad = random.normal(size=one.shape[::-1]).astype(kind).T  # not contiguous
        plain.step()
        fused.step()
        for one, other in zip(*pair, strict=True):
            np.testing.assert_allclose(one.value, other.value, rtol=2e-6 if kind == np.float32 else 1e-14)
            assert other.value.dtype == kind


def test_many_parameters_are_changed_by_the_kernel():
    big = [Parameter(np.zeros((400, 300), np.float32))]
    assert build("engine/optimizers", "sgd", big).fused and not build("engine/optimizers", "sgd", [
        Parameter(np.zeros(3))]).fused


def test_the_gradient_of_one_row_is_an_outer_product():
    a, b = np.random.default_rng(0).normal(size=(2, 400)).astype(np.float32)
    np.testing.assert_array_equal(outer(a, b), a[:, None] * b)
    layer = Linear(400, 300)
    x = np.random.default_rng(1).normal(size=(1, 400)).astype(np.float32)
    (layer(x) ** 2).sum().backward()
    np.testing.assert_allclose(layer.weight.grad, 2 * layer(x).value.T @ x, rtol=1e-5)
