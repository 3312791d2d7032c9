"""One step of training: micro-batches make a batch, truncated memory is cut, guards catch what goes wrong."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small import LSTM, SHAPES, learner, planned, silent

from chainrule.errors import ChainruleError
from chainrule.parts.state import detach
from chainrule.training.callbacks import Callbacks
from chainrule.training.state import TrainingState
from chainrule.training.weights import weights


def begun(shape, said=None, **changes):
    plan = planned(**changes)
    return (learner(shape, plan, Callbacks(silent if said is None else said.append)),
            TrainingState(plan.accumulation))


def without_dropout(shape):
    return replace(shape, dropout={"name": "independent", "rate": 0.0})


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def copied(model):
    return {name: tensor.clone() for name, tensor in weights(model).items()}


@pytest.mark.parametrize("pieces", [2, 4, 5, 6])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_accumulation_equals_a_large_batch(shape, pieces):
    whole, state = begun(without_dropout(shape), optimizer="sgd")
    parts, other = begun(without_dropout(shape), optimizer="sgd", accumulation=pieces)
    for _ in range(4):
        one, two = whole.step(state, 0.5), parts.step(other, 0.5)
        assert one.loss == pytest.approx(two.loss, rel=1e-5)
        assert one.norm == pytest.approx(two.norm, rel=1e-4)
    for name, tensor in weights(whole.network).items():
        torch.testing.assert_close(tensor, weights(parts.network)[name], rtol=1e-4, atol=1e-6)


def test_carried_state_equals_one_long_read_whose_gradient_is_cut():
    """Truncated back-propagation through time: the same states as in one read, gradients only within a step."""
    ours, so_far = begun(without_dropout(LSTM), optimizer={"name": "sgd", "rate": 1e-9}, clip=None)
    model, data, context = ours.network, ours.data, LSTM.context
    batches = [data.batch(step) for step in range(min(4, data.steps_per_epoch))]
    whole, _ = model(torch.from_numpy(np.concatenate([batch.inputs for batch in batches], axis=1)), model.start(6, 1))
    state = model.start(6, 1)
    for step, batch in enumerate(batches):
        hidden, after = model(torch.from_numpy(batch.inputs), state)
        torch.testing.assert_close(hidden, whole[:, step * context:(step + 1) * context], rtol=1e-4, atol=1e-6)
        wanted = torch.from_numpy(batch.targets).flatten()
        loss = torch.nn.functional.nll_loss(model.head.log_probs(hidden).flatten(0, 1), wanted)
        expected = torch.autograd.grad(loss, list(model.parameters()))
        given, _ = ours.gradients(batch, state, 1)
        for parameter, gradient in zip(model.parameters(), expected, strict=True):
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)
        model.zero_grad()
        state = detach(after)
        outcome = ours.step(so_far, 0.5)
        assert outcome.loss == pytest.approx(loss.item(), rel=1e-4) == given.item() / batch.count


def test_the_gradient_is_clipped_by_its_norm():
    free, state = begun(SHAPES["transformer"], optimizer="sgd", schedule="constant", clip=None)
    bound, other = begun(SHAPES["transformer"], optimizer="sgd", schedule="constant", clip=0.01)
    start = copied(free.network)
    norm = free.step(state, 0.5).norm
    assert bound.step(other, 0.5).norm == pytest.approx(norm) and norm > 0.01
    moved = {name: (weights(bound.network)[name] - tensor) for name, tensor in start.items()}
    assert torch.stack([t.norm() for t in moved.values()]).norm().item() == pytest.approx(0.01, rel=1e-3)
    for name, tensor in start.items():
        free_moved = weights(free.network)[name] - tensor
        torch.testing.assert_close(moved[name] * norm / 0.01, free_moved, rtol=1e-2, atol=1e-5)


class BreaksAt:
    """A task that gives NaN as the loss of some steps."""

    def __init__(self, task, state, steps):
        self.task, self.state, self.steps = task, state, steps

    def loss(self, network, batch, *, smoothing):
        loss, count, after = self.task.loss(network, batch, smoothing=smoothing)
        return (loss * float("nan") if self.state.step in self.steps else loss), count, after


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_loss_that_is_not_finite_changes_nothing_and_is_counted(shape):
    said = []
    ours, state = begun(shape, said)
    ours.objective.task = BreaksAt(ours.task, state, {1})
    ours.step(state, 0.1)
    before = copied(ours.network)
    assert not ours.step(state, 0.2).finite
    assert same(weights(ours.network), before) and (state.step, state.skipped) == (2, 1)
    assert said == ["step 2: the loss is not finite; the step is skipped, the weights stay."]
    assert ours.step(state, 0.3).finite and state.skipped_in_a_row == 0
    assert not same(weights(ours.network), before)


def test_a_gradient_that_is_not_finite_changes_nothing():
    said = []
    ours, state = begun(SHAPES["transformer"], said)
    next(ours.network.parameters()).register_hook(lambda gradient: gradient * float("inf"))
    before = copied(ours.network)
    ours.step(state, 0.1)
    assert same(weights(ours.network), before)
    assert said == ["step 1: the gradient is not finite; the step is skipped, the weights stay."]


def test_three_in_a_row_stop_training_with_advice():
    ours, state = begun(SHAPES["transformer"])
    ours.objective.task = BreaksAt(ours.task, state, {0, 2, 3, 4})
    with pytest.raises(ChainruleError, match="not finite in 3 steps in a row, up to step 5. Try a lower training.opt"):
        for _ in range(9):
            ours.step(state, 0.1)
    assert state.skipped == 4


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
def test_out_of_memory_takes_the_same_batch_in_more_micro_batches(shape, error):
    said = []
    plain, state = begun(without_dropout(shape), accumulation=4)
    tight, other = begun(without_dropout(shape), said)
    tight.network.norm = Narrow(tight.network.norm, 2, error)
    for _ in range(3):
        assert plain.step(state, 0.5).loss == tight.step(other, 0.5).loss
    assert other.accumulation == 4 and other.tokens == state.tokens and tight.network.norm.refused == 2
    assert said == ["out of memory at step 1; using 2 micro-batches of 3.",
                    "out of memory at step 1; using 4 micro-batches of 2."]
    tight.network.norm = tight.network.norm.inner
    assert same(weights(plain.network), weights(tight.network))


def test_out_of_memory_for_a_single_row_says_what_to_try():
    ours, state = begun(SHAPES["transformer"])
    ours.network.norm = Narrow(ours.network.norm, 0, torch.OutOfMemoryError("CUDA out of memory."))
    with pytest.raises(ChainruleError, match="out of memory with micro-batches of one row. Try a smaller model.width"):
        ours.step(state, 0.1)


def test_another_error_is_not_taken_for_lack_of_memory():
    ours, state = begun(SHAPES["transformer"])
    ours.network.norm = Narrow(ours.network.norm, 0, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        ours.step(state, 0.1)


@pytest.mark.parametrize(("shape", "precision"), [("transformer", "bfloat16"), ("transformer", "float16"),
                                                  ("lstm", "bfloat16")])
def test_half_precision_learns_about_the_same(shape, precision):
    exact, state = begun(without_dropout(SHAPES[shape]))
    half, other = begun(without_dropout(SHAPES[shape]), precision=precision)
    for _ in range(8):
        one, two = exact.step(state, 0.5), half.step(other, 0.5)
    assert two.loss == pytest.approx(one.loss, rel=0.03)
    assert all(tensor.dtype == torch.float32 for tensor in weights(half.network).values())


def test_half_precision_finds_its_loss_scale():
    ours, state = begun(SHAPES["transformer"], precision="float16")
    ours.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**60)
    before = copied(ours.network)
    for _ in range(60):
        ours.step(state, 0.5)
    assert state.skipped > 3 and not same(weights(ours.network), before)


def test_dropout_is_a_function_of_seed_and_step():
    one, state = begun(SHAPES["transformer"])
    torch.manual_seed(1)
    losses = [one.step(state, 0.5).loss for _ in range(3)]
    other, again = begun(SHAPES["transformer"])
    torch.manual_seed(2)
    assert losses == [other.step(again, 0.5).loss for _ in range(3)]
    assert len(np.unique(losses)) == 3


def test_unused_devices_keep_their_random_state(monkeypatch):
    """torch.manual_seed would seed every device that there is, at each step."""
    ours, state = begun(SHAPES["transformer"])

    def refused(seed):
        raise AssertionError("every device is seeded")

    monkeypatch.setattr(torch, "manual_seed", refused)
    before = torch.get_rng_state()
    with ours.isolated_rng():
        ours.step(state, 0.5)
        assert not torch.equal(torch.get_rng_state(), before)
    assert torch.equal(torch.get_rng_state(), before)
