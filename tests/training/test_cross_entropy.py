"""Cross-entropy in chunks against the plain one: values and gradients, whatever the chunk."""

import pytest
import torch
from torch.nn import functional as F

from chainrule.recipe.registry import build
from chainrule.tasks.cross_entropy import IGNORED, cross_entropy


def case(head="tied", bias=True):
    torch.manual_seed(0)
    embedding = torch.nn.Parameter(torch.randn(11, 5, dtype=torch.float64))
    made = build("parts/heads", {"name": head, "bias": bias}, 5, embedding).double()
    hidden = torch.randn(3, 7, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 11, (3, 7))
    targets[1, 2:] = IGNORED
    return hidden, made, targets


def plain(hidden, head, targets, smoothing):
    return F.cross_entropy(head(hidden).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum",
                           label_smoothing=smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("logits", [1, 11 * 4, 11 * 5, 10**6])
@pytest.mark.parametrize(("head", "bias"), [("tied", True), ("untied", False)])
def test_in_chunks_is_the_plain_one_with_its_gradients(head, bias, logits, smoothing):
    hidden, made, targets = case(head, bias)
    inputs = [hidden, *made.parameters()]
    loss = cross_entropy(hidden, made, targets, smoothing=smoothing, logits=logits)
    expected = plain(hidden, made, targets, smoothing)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=1e-6)
    both = zip(torch.autograd.grad(3 * loss, inputs), torch.autograd.grad(3 * expected, inputs), strict=True)
    for ours, theirs in both:
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_without_gradients_nothing_is_kept():
    hidden, head, targets = case()
    with torch.no_grad():
        loss = cross_entropy(hidden, head, targets, logits=11)
    assert not loss.requires_grad
    torch.testing.assert_close(loss.double(), plain(hidden, head, targets, 0.0).detach(), rtol=1e-6, atol=1e-6)


def test_logits_never_exist_whole():
    hidden, head, targets = case()
    seen = []
    head.register_forward_hook(lambda module, given, logits: seen.append(logits.numel()))
    cross_entropy(hidden, head, targets, logits=44).backward()
    assert max(seen) == 44 and sum(seen) == 3 * 7 * 11


def test_half_precision_stays_near():
    hidden, head, targets = case()
    expected = plain(hidden, head, targets, 0.0)
    single, halved = hidden.detach().float().requires_grad_(), head.float()
    with torch.autocast("cpu", torch.bfloat16):
        loss = cross_entropy(single, halved, targets, logits=44)
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=0.02)
    assert halved.weight.grad.dtype == torch.float32
