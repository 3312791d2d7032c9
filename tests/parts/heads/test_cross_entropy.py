"""The loss of a head in chunks against the plain one: values and gradients, whatever the chunk."""

import pytest
import torch

from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
HEADS = [{"name": "tied", "bias": True}, {"name": "untied", "bias": False}, {"name": "adaptive", "cutoffs": (3, 6)}]


def case(head=HEADS[0], scores=None):
    torch.manual_seed(0)
    place = Place(width=5, vocabulary=11, outputs=11)
    embedding = build("parts/embeddings", {"name": "lookup", "deviation": 1.0}, place)
    made = build("parts/heads", head, place, embedding).double()
    made.scores_at_once = scores
    hidden = torch.randn(3, 7, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 11, (3, 7))
    targets[1, 2:] = IGNORED
    return hidden, made, targets


def plain(hidden, head, targets, smoothing=0.0):
    log_p, real = head.log_probs(hidden), targets != IGNORED
    chosen = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return -((1 - smoothing) * chosen + smoothing * log_p.mean(-1))[real].sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("scores", [1, 11 * 4, 11 * 5, 10**6])
@pytest.mark.parametrize("head", HEADS, ids=[head["name"] for head in HEADS])
def test_the_loss_in_chunks_equals_the_plain_one_with_its_gradients(head, scores, smoothing):
    hidden, made, targets = case(head, scores)
    inputs = [hidden, *made.parameters()]
    loss = made.loss(hidden, targets, smoothing=smoothing)
    expected = plain(hidden, made, targets, smoothing)
    torch.testing.assert_close(loss, expected, rtol=1e-6, atol=1e-6)
    both = zip(torch.autograd.grad(3 * loss, inputs), torch.autograd.grad(3 * expected, inputs), strict=True)
    for ours, theirs in both:
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_without_gradients_nothing_is_kept():
    hidden, head, targets = case(scores=11)
    with torch.no_grad():
        loss = head.loss(hidden, targets)
    assert not loss.requires_grad
    torch.testing.assert_close(loss, plain(hidden, head, targets).detach(), rtol=1e-6, atol=1e-6)


def test_scores_never_exist_whole(monkeypatch):
    hidden, head, targets = case(scores=44)
    seen, real = [], head.scores

    def noted(rows):
        found = real(rows)
        seen.append(found.numel())
        return found

    monkeypatch.setattr(head, "scores", noted)
    head.loss(hidden, targets).backward()
    assert max(seen) == 44 and sum(seen) == 3 * 7 * 11


def test_half_precision_stays_near():
    hidden, head, targets = case(scores=44)
    expected = plain(hidden, head, targets)
    single, halved = hidden.detach().float().requires_grad_(), head.float()
    with torch.autocast("cpu", torch.bfloat16):
        loss = halved.loss(single, targets)
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=0.02)
    assert halved.weight.grad.dtype == torch.float32
