"""The scan equals a loop over its equation, with its gradients, however the text is cut into stretches."""

import pytest
import torch
from torch.autograd import gradcheck

from chainrule.parts.mixers import _scan
from chainrule.parts.mixers._scan import exact, scan
from chainrule.watching import watch

torch.set_num_threads(1)
B, D = 3, 5
ways = pytest.mark.parametrize("small", [0, 1 << 30], ids=["by steps", "in stretches"])


def loop(a, b, first):
    """h_t = a_t ⊙ h_{t−1} + b_t"""
    h, found = first, []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        found.append(h)
    return torch.stack(found, dim=1)


def given(time, dtype=torch.float64):
    torch.manual_seed(time)
    a, b, first = 2 * torch.rand(B, time, D) - 0.7, torch.randn(B, time, D), torch.randn(B, D)
    return [each.to(dtype).requires_grad_() for each in (a, b, first)]


@ways
@pytest.mark.parametrize("time", [1, 2, 7, 16, 17, 24, 25, 63, 64, 130])
def test_a_scan_is_the_loop_and_has_its_gradients(time, small, monkeypatch):
    monkeypatch.setitem(_scan.SMALL, "cpu", small)
    terms = given(time)
    fast, slow = scan(*terms), loop(*terms)
    torch.testing.assert_close(fast, slow)
    weigh = torch.randn_like(fast)
    for one, other in zip(torch.autograd.grad((fast * weigh).sum(), terms),
                          torch.autograd.grad((slow * weigh).sum(), terms), strict=True):
        torch.testing.assert_close(one, other)


@ways
def test_gradients_of_the_scan_match_finite_differences(small, monkeypatch):
    monkeypatch.setitem(_scan.SMALL, "cpu", small)
    assert gradcheck(scan, given(19))


@ways
def test_a_gate_that_closes_lets_nothing_through_and_one_that_stays_open_keeps_all(small, monkeypatch):
    monkeypatch.setitem(_scan.SMALL, "cpu", small)
    a, b, first = (each.detach().float() for each in given(400))
    a[:, :, 0], a[:, :, 1], a[:, :, 2] = 0.0, 1.0, 1e-30
    h = scan(a, b, first)
    torch.testing.assert_close(h[:, :, 0], b[:, :, 0])
    torch.testing.assert_close(h[:, -1, 1], first[:, 1] + b[:, :, 1].sum(1), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(h[:, :, 2], b[:, :, 2])


def test_tensors_that_do_not_lie_in_order_are_read_as_they_are():
    a, b, first = (each.detach() for each in given(40))
    turned = [torch.randn(D, 40, B, dtype=a.dtype).permute(2, 1, 0).copy_(each) for each in (a, b)]
    assert not turned[0].is_contiguous()
    torch.testing.assert_close(scan(*turned, first), loop(a, b, first))


def test_a_watched_scan_shows_each_step_in_the_graph():
    terms = given(9)
    with watch() as seen:
        h = scan(*terms)
    torch.testing.assert_close(h, loop(*terms))
    assert torch.equal(torch.stack(seen["steps"][0], dim=1), h)
    assert all(each.any() for each in torch.autograd.grad(h[:, -1].sum(), seen["steps"][0]))


def test_nothing_to_scan_is_nothing():
    assert scan(torch.zeros(B, 0, D), torch.zeros(B, 0, D), torch.ones(B, D)).shape == (B, 0, D)
    assert scan(torch.zeros(0, 40, D), torch.zeros(0, 40, D), torch.ones(0, D)).shape == (0, 40, D)


def test_half_precision_is_scanned_in_single():
    assert exact(torch.zeros(1, dtype=torch.bfloat16)).dtype == torch.float32
    assert exact(torch.zeros(1, dtype=torch.float64)).dtype == torch.float64
    near_one = torch.tensor([7.0], dtype=torch.bfloat16)  # σ(7) = 0.99909
    assert near_one.sigmoid() == 1 > exact(near_one).sigmoid()


def test_the_scan_is_one_operation_for_the_compiler():
    """`torch.compile` does not look inside: it has the shapes and the gradients of the operation."""
    terms, counted = given(20), []

    def watching(graph, _):
        counted.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward
    fast, slow = torch.compile(scan, backend=watching, fullgraph=True)(*terms), loop(*terms)
    torch.testing.assert_close(fast, slow)
    assert counted == ["chainrule.scan"]
    for one, other in zip(torch.autograd.grad(fast.square().sum(), terms),
                          torch.autograd.grad(slow.square().sum(), terms), strict=True):
        torch.testing.assert_close(one, other)
    torch.library.opcheck(torch.ops.chainrule.scan.default, tuple(terms), test_utils=("test_schema", "test_faketensor"))
