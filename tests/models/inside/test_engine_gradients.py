"""Gradients through time in the engine: by hand, as torch has them, and as theory says."""

import numpy as np
import pytest

from chainrule.engine.modules.softmax import Softmax
from chainrule.models.engine_stack import EngineStack, exported
from chainrule.models.inside.engine_gradients import measure
from chainrule.models.shape import Shape

TOKENS, TIME = 13, 12
IDS = np.random.default_rng(5).integers(0, TOKENS, size=(3, TIME))
SIZES = {"width": 10, "context": 16, "embedding": {"name": "lookup", "deviation": 0.5}}
ONE = {"pattern": "r", "wiring": "plain", "norm": "none", "position": "none", "head": "untied", **SIZES}
TWO = {"name": "attention", "heads": 2}
SHAPES = {
    "transformer": Shape("(sf)*2", parts={"s": TWO}, position="learned", **SIZES),
    "nnlm": Shape("wf", parts={"w": {"name": "window", "size": 3}, "f": {"name": "mlp", "activation": "tanh"}},
                  position="none", **SIZES),
    "elman": Shape(parts={"r": {"name": "elman", "gain": 1.5}}, **ONE),
    "lstm": Shape("rr", parts={"r": {"name": "lstm", "forget": 2.0}}, position="none", **SIZES),
    "gru": Shape("rr", parts={"r": "gru"}, position="none", **SIZES),
    "ugrnn": Shape("rf", parts={"r": "ugrnn"}, position="none", **SIZES),
    "shared": Shape("[sf]*2 [u]*2", parts={"s": TWO, "u": "ugrnn"}, position="learned", **SIZES),
}


def made(shape, seed=0):
    return EngineStack(shape, TOKENS, np.random.default_rng(seed))


@pytest.mark.parametrize("gain", [0.5, 1.0, 3.0])
def test_in_a_linear_network_the_gradient_is_multiplied_by_the_matrix_at_every_step(gain):
    """Without input every h is 0, where tanh is linear: ∂loss/∂h_{t−d} = (Uᵀ)^d Vᵀ (p − y), with U = gain · Q."""
    stack = made(Shape(parts={"r": {"name": "elman", "gain": gain}}, **ONE))
    stack.embedding.weight.value[:] = 0
    stack.head.bias.value = np.random.default_rng(1).normal(size=TOKENS).astype(np.float32)
    found = measure(stack, IDS[:1])
    error = Softmax()(stack.head.bias.value.astype(np.float64)).value - np.eye(TOKENS)[IDS[0, -1]]
    gradient = stack.head.weight.value.astype(np.float64).T @ error
    recurrent = stack.sublayers[0].body.cell.recurrent.value.astype(np.float64)
    for d in range(TIME - 1):
        by_hand = np.linalg.norm(np.linalg.matrix_power(recurrent.T, d) @ gradient)
        assert found.by_distance[0][d] == pytest.approx(by_hand, rel=1e-9)
        assert by_hand == pytest.approx(gain**d * np.linalg.norm(gradient), rel=1e-5), "Q keeps lengths"


@pytest.mark.parametrize("name", SHAPES)
def test_the_norms_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    from chainrule.models.inside.gradients import measure as of_torch
    from chainrule.models.stack import Stack
    from chainrule.training import weights

    ours = made(SHAPES[name])
    theirs = Stack(SHAPES[name], TOKENS)
    weights.put(theirs, exported(ours), "the engine")
    found, expected = measure(ours, IDS, clip=0.1), of_torch(theirs, torch.from_numpy(IDS), clip=0.1)
    assert found.layers == expected.layers and found.loss == pytest.approx(expected.loss, rel=1e-9)
    np.testing.assert_allclose(found.by_distance, expected.by_distance, rtol=1e-9, atol=1e-12)
    assert np.shape(found.by_distance) == (len(ours.letters), TIME - 1)
    if name not in ("elman", "lstm"):  # in torch these have a second bias, whose gradient is counted too
        np.testing.assert_allclose(found.by_layer, expected.by_layer, rtol=1e-9)
        assert (found.norm, found.clipped) == pytest.approx((expected.norm, expected.clipped), rel=1e-9)


def test_clipped_gradients_have_the_norm_that_was_asked_for():
    stack = made(Shape(parts={"r": {"name": "elman", "gain": 4.0}}, **ONE))
    free, clipped, loose = (measure(stack, IDS, clip=clip) for clip in (None, 0.25, 1e9))
    assert free.norm == free.clipped > 0.25 and free.factor == 1.0
    assert clipped.norm == free.norm and clipped.clipped == pytest.approx(0.25, rel=1e-12)
    assert clipped.factor == pytest.approx(0.25 / free.norm) and clipped.by_distance == free.by_distance
    assert loose.clipped == free.norm


def test_measuring_leaves_the_stack_as_it_was():
    stack = made(SHAPES["transformer"])
    before = {name: value.copy() for name, value in exported(stack).items()}
    measure(stack, IDS)
    assert stack.training and all(p.grad is None and p.value.dtype == np.float32 for p in stack.parameters())
    for name, value in exported(stack).items():
        np.testing.assert_array_equal(value, before[name])


def test_watching_changes_nothing_of_what_is_computed():
    from chainrule.watching import watch

    for shape in SHAPES.values():
        stack = made(shape).to(np.float64)
        plain, (stepped, after) = stack(IDS)[0], stack(IDS, stack.start(len(IDS)))
        with watch() as seen:
            watched, (stepped_watched, then) = stack(IDS)[0], stack(IDS, stack.start(len(IDS)))
        for each in (watched, stepped, stepped_watched):
            np.testing.assert_allclose(each.value, plain.value, rtol=1e-12)
        assert after.lengths.tolist() == then.lengths.tolist() == [TIME] * len(IDS)
        for mine, other in zip(after.sublayers, then.sublayers, strict=True):
            assert (mine is None) == (other is None)
            for one, two in zip(mine or (), other or (), strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-12)
        assert [name for name in seen if name.endswith("/inward")] == [f"sublayers.{n}/inward"
                                                                      for n in range(len(stack.letters))]
