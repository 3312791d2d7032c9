"""One step of training: pieces make a batch, truncated memory is cut, guards catch what goes wrong."""

import numpy as np
import pytest
import torch
from small import LSTM, SHAPES, SIZE, VOCABULARY, planned, silent, text

from chainrule.errors import ChainruleError
from chainrule.parts.state import detach
from chainrule.training.course import Course
from chainrule.training.run import Telling, language_task, new_stack
from chainrule.training.torch_learner import TorchLearner
from chainrule.training.weights import weights

CPU = torch.device("cpu")


def learner(shape, said=None, **changes):
    plan = planned(**changes)
    say = silent if said is None else said.append
    stack = new_stack(shape, SIZE, plan.seed).train()
    task = language_task(stack, plan, text(), None, VOCABULARY, Telling(say))
    return TorchLearner(stack, task, plan, say), Course(plan.accumulation)


def without_dropout(shape):
    from dataclasses import replace
    return replace(shape, dropout={"name": "independent", "rate": 0.0})


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def copied(model):
    return {name: tensor.clone() for name, tensor in weights(model).items()}


@pytest.mark.parametrize("pieces", [2, 4, 5, 6])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_accumulation_equals_a_large_batch(shape, pieces):
    whole, course = learner(without_dropout(shape), optimizer="sgd")
    parts, other = learner(without_dropout(shape), optimizer="sgd", accumulation=pieces)
    for _ in range(4):
        one, two = whole.step(course, 0.5), parts.step(other, 0.5)
        assert one.loss == pytest.approx(two.loss, rel=1e-5)
        assert one.norm == pytest.approx(two.norm, rel=1e-4)
    for name, tensor in weights(whole.model).items():
        torch.testing.assert_close(tensor, weights(parts.model)[name], rtol=1e-4, atol=1e-6)


def test_carried_state_equals_one_long_read_whose_gradient_is_cut():
    """Truncated back-propagation through time: the same states as in one read, gradients only within a step."""
    ours, course = learner(without_dropout(LSTM), optimizer={"name": "sgd", "rate": 1e-9}, clip=None)
    model, order, context = ours.model, ours.task.order, LSTM.context
    steps = min(4, order.steps_per_epoch)
    batches = [ours.task.batch(step, CPU) for step in range(steps)]
    whole, _ = model(torch.cat([batch.read for batch in batches], dim=1), model.start(6, 1))
    state = model.start(6, 1)
    for step, batch in enumerate(batches):
        hidden, after = model(batch.read, state)
        torch.testing.assert_close(hidden, whole[:, step * context:(step + 1) * context], rtol=1e-4, atol=1e-6)
        loss = torch.nn.functional.cross_entropy(model.head(hidden).flatten(0, 1), batch.wanted.flatten())
        expected = torch.autograd.grad(loss, list(model.parameters()))
        given, _ = ours.gradients(course, batch, state)
        for parameter, gradient in zip(model.parameters(), expected, strict=True):
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)
        model.zero_grad()
        state = detach(after)
        outcome = ours.step(course, 0.5)
        assert outcome.loss == pytest.approx(loss.item(), rel=1e-4) == given.item() / batch.tokens


def test_the_gradient_is_clipped_by_its_norm():
    free, course = learner(SHAPES["transformer"], optimizer="sgd", schedule="constant", clip=None)
    bound, other = learner(SHAPES["transformer"], optimizer="sgd", schedule="constant", clip=0.01)
    start = copied(free.model)
    norm = free.step(course, 0.5).norm
    assert bound.step(other, 0.5).norm == pytest.approx(norm) and norm > 0.01
    moved = {name: (weights(bound.model)[name] - tensor) for name, tensor in start.items()}
    assert torch.stack([t.norm() for t in moved.values()]).norm().item() == pytest.approx(0.01, rel=1e-3)
    for name, tensor in start.items():
        torch.testing.assert_close(moved[name] * norm / 0.01, weights(free.model)[name] - tensor, rtol=1e-2, atol=1e-5)


class BreaksAt:
    """A task that gives NaN as the loss of some steps."""

    def __init__(self, task, steps):
        self.task, self.steps, self.step = task, steps, -1

    def __getattr__(self, name):
        return getattr(self.task, name)

    def batch(self, step, device):
        self.step = step
        return self.task.batch(step, device)

    def loss(self, model, batch, state):
        loss, after = self.task.loss(model, batch, state)
        return (loss * float("nan") if self.step in self.steps else loss), after


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_loss_that_is_not_finite_changes_nothing_and_is_counted(shape):
    said = []
    ours, course = learner(shape, said)
    ours.task = BreaksAt(ours.task, {1})
    ours.step(course, 0.1)
    before = copied(ours.model)
    assert not ours.step(course, 0.2).finite
    assert same(weights(ours.model), before) and (course.step, course.skipped) == (2, 1)
    assert said == ["step 2: the loss is not finite; the step is skipped, the weights stay."]
    assert ours.step(course, 0.3).finite and course.skipped_in_a_row == 0
    assert not same(weights(ours.model), before)


def test_a_gradient_that_is_not_finite_changes_nothing():
    said = []
    ours, course = learner(SHAPES["transformer"], said)
    next(ours.model.parameters()).register_hook(lambda gradient: gradient * float("inf"))
    before = copied(ours.model)
    ours.step(course, 0.1)
    assert same(weights(ours.model), before)
    assert said == ["step 1: the gradient is not finite; the step is skipped, the weights stay."]


def test_three_in_a_row_stop_training_with_advice():
    ours, course = learner(SHAPES["transformer"])
    ours.task = BreaksAt(ours.task, {0, 2, 3, 4})
    with pytest.raises(ChainruleError, match="not finite in 3 steps in a row, up to step 5. Try a lower training.opt"):
        for _ in range(9):
            ours.step(course, 0.1)
    assert course.skipped == 4


class Narrow(torch.nn.Module):
    """A norm that has memory for few rows only, and says so as torch does."""

    def __init__(self, inner, rows, error):
        super().__init__()
        self.inner, self.rows, self.error, self.refused = inner, rows, error, 0

    def forward(self, x):
        if len(x) > self.rows:
            self.refused += 1
            raise self.error
        return self.inner(x)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory."), MemoryError(),
                                   RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_out_of_memory_takes_the_same_batch_in_more_pieces(shape, error):
    said = []
    plain, course = learner(without_dropout(shape), accumulation=4)
    tight, other = learner(without_dropout(shape), said)
    tight.model.norm = Narrow(tight.model.norm, 2, error)
    for _ in range(3):
        assert plain.step(course, 0.5).loss == tight.step(other, 0.5).loss
    assert other.accumulation == 4 and other.tokens == course.tokens and tight.model.norm.refused == 2
    assert said == ["out of memory: from step 1 on a batch of 6 rows is taken in 2 pieces.",
                    "out of memory: from step 1 on a batch of 6 rows is taken in 4 pieces."]
    tight.model.norm = tight.model.norm.inner
    assert same(weights(plain.model), weights(tight.model))


def test_out_of_memory_for_a_single_row_says_what_to_try():
    ours, course = learner(SHAPES["transformer"])
    ours.model.norm = Narrow(ours.model.norm, 0, torch.OutOfMemoryError("CUDA out of memory."))
    with pytest.raises(ChainruleError, match="out of memory with a single row at a time. Try a smaller model.width"):
        ours.step(course, 0.1)


def test_another_error_is_not_taken_for_lack_of_memory():
    ours, course = learner(SHAPES["transformer"])
    ours.model.norm = Narrow(ours.model.norm, 0, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        ours.step(course, 0.1)


@pytest.mark.parametrize(("shape", "precision"), [("transformer", "bfloat16"), ("transformer", "float16"),
                                                  ("lstm", "bfloat16")])
def test_half_precision_learns_about_the_same(shape, precision):
    exact, course = learner(without_dropout(SHAPES[shape]))
    half, other = learner(without_dropout(SHAPES[shape]), precision=precision)
    for _ in range(8):
        one, two = exact.step(course, 0.5), half.step(other, 0.5)
    assert two.loss == pytest.approx(one.loss, rel=0.03)
    assert all(tensor.dtype == torch.float32 for tensor in weights(half.model).values())


def test_half_precision_looks_for_its_scale_without_giving_up():
    ours, course = learner(SHAPES["transformer"], precision="float16")
    ours.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**60)
    before = copied(ours.model)
    for _ in range(60):
        ours.step(course, 0.5)
    assert course.skipped > 3 and not same(weights(ours.model), before)


def test_dropout_is_a_function_of_seed_and_step():
    one, course = learner(SHAPES["transformer"])
    torch.manual_seed(1)
    losses = [one.step(course, 0.5).loss for _ in range(3)]
    other, again = learner(SHAPES["transformer"])
    torch.manual_seed(2)
    assert losses == [other.step(again, 0.5).loss for _ in range(3)]
    assert len(np.unique(losses)) == 3


def test_devices_that_are_not_used_keep_their_chance(monkeypatch):
    """torch.manual_seed would seed every device that there is, at each step."""
    ours, course = learner(SHAPES["transformer"])

    def refused(seed):
        raise AssertionError("every device is seeded")

    monkeypatch.setattr(torch, "manual_seed", refused)
    before = torch.get_rng_state()
    with ours.own_chance():
        ours.step(course, 0.5)
        assert not torch.equal(torch.get_rng_state(), before)
    assert torch.equal(torch.get_rng_state(), before)
