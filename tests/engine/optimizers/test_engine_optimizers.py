"""Every optimizer goes step by step where torch.optim goes; clipping and minibatches do what they say."""

import numpy as np
import pytest

from chainrule.engine import Parameter
from chainrule.engine.batches import minibatches
from chainrule.engine.clipping import clip_norm, clip_value, norm
from chainrule.errors import UsageError
from chainrule.recipe.registry import build, find, names

SHAPES = [(3, 5), (5,), (2, 3, 2), ()]
THEIRS = {
    "sgd": lambda torch, p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "nesterov": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adagrad": lambda torch, p: torch.optim.Adagrad(p, lr=0.01, eps=1e-10),
    "rmsprop": lambda torch, p: torch.optim.RMSprop(p, lr=0.01, alpha=0.99, eps=1e-8),
    "adam": lambda torch, p: torch.optim.Adam(p, lr=1e-3, betas=(0.9, 0.999)),
    "adamw": lambda torch, p: torch.optim.AdamW([{"params": [p[0], p[2]], "weight_decay": 0.1},
                                                 {"params": [p[1], p[3]], "weight_decay": 0.0}],
                                                lr=1e-3, betas=(0.9, 0.95)),
}


def parameters(kind=np.float64):
    random = np.random.default_rng(0)
    return [Parameter(random.normal(size=shape).astype(kind)) for shape in SHAPES]


@pytest.mark.parametrize("name", names("engine/optimizers"))
def test_twenty_steps_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    ours, random = parameters(), np.random.default_rng(1)
    theirs = [torch.tensor(each.value, requires_grad=True) for each in ours]
    mine, peer = build("engine/optimizers", name, ours), THEIRS[name](torch, theirs)
    for step in range(20):
        for p, q in zip(ours, theirs, strict=True):
            p.grad = np.asarray(random.normal(size=p.shape))
            q.grad = torch.tensor(p.grad)
        mine.step()
        peer.step()
        for p, q in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(p.value, q.detach().numpy(), rtol=1e-10, atol=1e-12, err_msg=f"step {step}")


@pytest.mark.parametrize("name", names("engine/optimizers"))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gradients_and_types_stay_and_the_loss_falls(name, kind):
    ours = parameters(kind)
    optimizer = build("engine/optimizers", name, ours)
    before = sum(float((p.value**2).sum()) for p in ours)
    for _ in range(10):
        for p in ours:
            p.grad = 2 * p.value
        given = [p.grad.copy() for p in ours]
        optimizer.step()
        assert all((p.grad == g).all() for p, g in zip(ours, given, strict=True))
    assert sum(float((p.value**2).sum()) for p in ours) < before
    assert {p.value.dtype for p in ours} == {np.dtype(kind)}


@pytest.mark.parametrize("name", names("engine/optimizers"))
def test_a_parameter_without_a_gradient_stays(name):
    ours = parameters()
    ours[0].grad, value = np.ones(SHAPES[0]), ours[1].value.copy()
    build("engine/optimizers", name, ours).step()
    np.testing.assert_array_equal(ours[1].value, value)


@pytest.mark.parametrize("name", names("engine/optimizers"))
@pytest.mark.parametrize("fused", [False, True])
def test_a_scalar_is_changed_in_place_as_a_vector_of_one(name, fused):
    """Its gradient comes from a backward pass."""
    scalar, vector = Parameter(np.array(1.5)), Parameter(np.array([1.5]))
    ours = [build("engine/optimizers", name, [each]) for each in (scalar, vector)]
    value = scalar.value
    for _ in range(3):
        for each, optimizer in zip((scalar, vector), ours, strict=True):
            each.grad, optimizer.fused = None, fused
            (each * each).sum().backward()
            optimizer.step()
    assert scalar.value is value and value.shape == () and value == vector.value[0] < 1.5


def test_clipping_by_norm_is_that_of_torch():
    torch = pytest.importorskip("torch")
    ours, random = parameters(), np.random.default_rng(2)
    theirs = [torch.zeros(each.shape, dtype=torch.float64) for each in ours]
    for p, q in zip(ours, theirs, strict=True):
        p.grad = random.normal(size=p.shape)
        q.grad = torch.tensor(p.grad)
    expected = torch.nn.utils.clip_grad_norm_(theirs, 1.5).item()
    assert clip_norm(ours, 1.5) == pytest.approx(expected) and norm(ours) == pytest.approx(1.5)
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.grad, q.grad.numpy(), rtol=1e-6)
    assert clip_norm(ours, 100.0) == pytest.approx(1.5) == norm(ours)
    clip_value(ours, 0.1)
    assert max(np.abs(p.grad).max() for p in ours) == 0.1


def test_minibatches_have_every_row_once_and_rows_stay_together():
    x, y = np.arange(10)[:, None] * np.ones((1, 3)), np.arange(10)
    found = list(minibatches(x, y, size=4, random=np.random.default_rng(0)))
    assert [len(each) for each, _ in found] == [4, 4, 2]
    rows = np.concatenate([labels for _, labels in found])
    assert sorted(rows) == list(range(10)) and list(rows) != list(range(10))
    assert all((each[:, 0] == labels).all() for each, labels in found)
    assert [labels.tolist() for _, labels in minibatches(x, y, size=6)] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]


@pytest.mark.parametrize(("work", "said"), [
    (lambda: find("engine/optimizers", "sgd")(parameters(), rate=0.0), r"SGD\.rate = 0\.0, expected more than 0\."),
    (lambda: find("engine/optimizers", "sgd")([]), "was given no parameters"),
    (lambda: find("engine/optimizers", "momentum")(parameters(), momentum=1.0), "expected at least 0 and less than 1"),
    (lambda: clip_norm(parameters(), 0), "expected more than 0"),
    (lambda: clip_value(parameters(), -1), "expected more than 0"),
    (lambda: list(minibatches(np.ones(3), np.ones(4), size=2)), "arrays of 3, 4 rows, expected as many in each"),
    (lambda: list(minibatches(np.ones(3), size=0)), "expected at least 1"),
])
def test_mistakes_of_training_are_reported_in_one_line(work, said):
    with pytest.raises(UsageError, match=said):
        work()
