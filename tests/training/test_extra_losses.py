"""Auxiliary losses of parts, such as the balance of experts, change the weights; only the task's loss is reported."""

from dataclasses import replace

import pytest
import torch
from small import TRANSFORMER, learner, planned, text, train

from chainrule.parts.losses import collected_losses
from chainrule.training.plan import Budget
from chainrule.training.state import TrainingState

DROPOUT = {"name": "independent", "rate": 0.0}


def experts(balance):
    parts = {**TRANSFORMER.parts, "f": {"name": "mixture_of_experts", "experts": 4, "balance": balance}}
    return replace(TRANSFORMER, parts=parts, dropout=DROPOUT)


def gradients(found, accumulation=1):
    """The reported loss of the first batch, and the gradient of each parameter."""
    batch = found.data.batch(0)
    loss, _ = found.gradients(batch, None, accumulation)
    return loss.item() / batch.count, {name: each.grad.clone() for name, each in found.network.named_parameters()}


def test_the_balance_of_experts_changes_gradients_but_not_the_reported_loss():
    free, _ = gradients(learner(experts(0.0), planned()))
    held = learner(experts(0.7), planned())
    reported, moved = gradients(held)
    assert reported == free

    batch = held.data.batch(0).sent(torch.from_numpy, None)
    with collected_losses() as added:
        loss, count, _ = held.task.loss(held.network, batch)
    parameters = dict(held.network.named_parameters())
    plain = torch.autograd.grad(loss / count, list(parameters.values()), retain_graph=True)
    extra = torch.autograd.grad(added["balance"], list(parameters.values()), allow_unused=True)
    for name, one, other in zip(parameters, plain, extra, strict=True):
        torch.testing.assert_close(moved[name], one if other is None else one + other, rtol=1e-4, atol=1e-6)
    router = next(n for n, name in enumerate(parameters) if "router" in name)
    assert extra[router].norm() > 0.01 * plain[router].norm(), "the router learns to balance"


def test_in_micro_batches_each_adds_the_balance_of_its_own_rows():
    found = learner(experts(0.7), planned())
    _, whole = gradients(found, 3)
    found.zero_grad()
    rows = [found.data.batch(0).rows(begin, begin + 2).sent(torch.from_numpy, None) for begin in (0, 2, 4)]
    parameters = dict(found.network.named_parameters())
    expected = {name: torch.zeros_like(each) for name, each in parameters.items()}
    for each in rows:
        with collected_losses() as added:
            loss, count, _ = found.task.loss(found.network, each)
        mean = (loss + count * added["balance"]) / (6 * TRANSFORMER.context)
        for name, gradient in zip(parameters, torch.autograd.grad(mean, list(parameters.values())), strict=True):
            expected[name] += gradient
    for name, gradient in expected.items():
        torch.testing.assert_close(whole[name], gradient, rtol=1e-4, atol=1e-6)


def test_an_extra_loss_changes_the_step_but_not_its_reported_loss(tmp_path):
    steps = {}
    for balance in (0.0, 5.0):
        found, state = learner(experts(balance), planned()), TrainingState(1)
        steps[balance] = [found.step(state, 0.5) for _ in range(3)]
    assert steps[0.0][0].loss == steps[5.0][0].loss and steps[0.0][0].norm != steps[5.0][0].norm
    assert steps[0.0][2].loss != steps[5.0][2].loss


def test_a_training_reports_only_the_loss_of_the_task(tmp_path):
    """A huge balance would be seen at once: a uniform guess among 13 tokens costs ln 13."""
    plan = planned(budget=Budget(steps=2), evaluate_every=1, log_every=1)
    _, fitted = train(experts(1000.0), plan, tmp_path, valid=text(150, seed=1))
    reported = [row.get("loss", row.get("valid_loss")) for row in fitted.metrics]
    assert len(reported) == 4 and reported == pytest.approx([2.56] * 4, abs=1.0)
