"""Rank collapse: attention alone loses rank doubly exponentially, skips prevent it."""

import math

import pytest
import torch

from chainrule.models.inside.rank import ALONE, FED, SKIPS, WHOLE, composite_norm, measure, residual
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack


def stack(**changes):
    torch.manual_seed(0)
    given = {"pattern": "(sf)*6", "width": 48, "context": 32, "position": "none", "causal": False, "norm": "layer",
             "parts": {"s": {"name": "attention", "heads": 4}, "f": "mlp"},
             "embedding": {"name": "lookup", "deviation": 1.0}}
    return Stack(Shape(**given | changes), 50), torch.randint(0, 50, (3, 24))


def test_the_composite_norm_is_its_definition():
    x = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
    assert composite_norm(x).item() == pytest.approx(math.sqrt(max(1.5, 6.0, 4.0) * max(6.0, 5.5)))
    assert composite_norm(x) == (torch.linalg.matrix_norm(x, 1) * torch.linalg.matrix_norm(x, torch.inf)).sqrt()


def test_equal_rows_have_no_residual_and_it_does_not_depend_on_the_scale():
    x = torch.randn(7, 5, dtype=torch.float64)
    assert residual(x[:1].repeat(7, 1)) < 1e-15
    torch.testing.assert_close(residual(x), residual(-3 * x))


@pytest.mark.parametrize("wiring", ["pre_norm", "residual"])
def test_attention_alone_falls_doubly_exponentially_and_skips_prevent_it(wiring):
    found = measure(*stack(wiring=wiring)).residuals
    falls = [math.log(r) for r in found[ALONE] if r > 1e-13]
    steps = [a - b for a, b in zip(falls, falls[1:], strict=False)]
    assert len(steps) >= 3 and all(later > 1.5 * sooner for sooner, later in zip(steps, steps[1:], strict=False)), falls
    assert found[ALONE][-1] < 1e-13 and found[FED][-1] < 1e-13
    assert min(found[SKIPS]) > 0.5 and min(found[WHOLE]) > 0.5


def test_from_left_to_right_it_falls_slowly_which_is_said():
    found = measure(*stack(causal=True))
    assert 1e-3 < found.residuals[ALONE][-1] < 0.3 and found.weights_differ
    assert not measure(*stack()).weights_differ and measure(*stack(position="rotary")).weights_differ


def test_the_whole_model_is_the_model():
    model, ids = stack(wiring="post_norm")
    hidden, _ = model.double()(ids)
    expected = residual(hidden).log().mean().exp().item()
    assert measure(model, ids).residuals[WHOLE][-1] == pytest.approx(expected, rel=1e-9)


def test_sublayers_are_counted_from_the_embedding():
    found = measure(*stack(pattern="ssf"))
    assert found.after[ALONE] == (0, 1, 2) and found.after[WHOLE] == (0, 1, 2, 3)
    assert [len(found.residuals[way]) for way in (ALONE, FED, SKIPS, WHOLE)] == [3, 4, 3, 4]


@pytest.mark.parametrize("wiring", ["hyper_connections", "parallel", "deep_norm", "rezero"])
def test_every_wiring_can_be_taken_off(wiring):
    found = measure(*stack(wiring=wiring, pattern="(sf)*2")).residuals
    assert found[ALONE][-1] < 0.5 < found[WHOLE][-1]


def test_parts_that_change_the_stream_stay_in_the_whole_model_alone():
    parts = {"p": "pool", "u": "upsample", "s": {"name": "attention", "heads": 4}}
    found = measure(*stack(pattern="sfpsu", parts=parts))
    assert found.after[FED] == (0, 1, 2, 4) and found.after[WHOLE] == (0, 1, 2, 3, 4, 5)
