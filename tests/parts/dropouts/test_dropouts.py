"""Where dropout falls: on every number, on the same numbers at each step, and never between a state and the next."""

import pytest
import torch
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build, names

torch.set_num_threads(1)
B, T, D, V = 3, 7, 8, 11


def test_variational_dropout_leaves_out_the_same_numbers_at_each_step():
    torch.manual_seed(0)
    y = build("parts/dropouts", {"name": "variational", "rate": 0.5}, Place(D))(torch.ones(B, T, D))
    assert torch.equal(y, y[:, :1].expand_as(y)) and len(y[:, 0].unique(dim=0)) == B  # but others in each row


def test_independent_dropout_does_not():
    torch.manual_seed(0)
    y = build("parts/dropouts", {"name": "independent", "rate": 0.5}, Place(D))(torch.ones(B, T, D))
    assert len(y[0].unique(dim=0)) > 1


def test_plain_wiring_drops_the_connections_through_depth_only():
    """Zaremba, Sutskever & Vinyals 2014, §3.1: dropout of h^{l−1}_t, never of h^l_{t−1}; embedding and output too."""
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="rr", width=D, parts={"r": "lstm"}, wiring="plain", norm="none", position="none",
                        dropout={"name": "independent", "rate": 0.5}), V)
    ids = torch.randint(V, (B, T))
    torch.manual_seed(1)
    y = stack(ids)[0]
    torch.manual_seed(1)
    x = F.dropout(F.embedding(ids, stack.embedding.weight), 0.5)
    for layer in stack.sublayers:
        x = F.dropout(layer.body.cell.fused(x)[0], 0.5)  # the recurrence itself is torch's, without dropout
    torch.testing.assert_close(y, x)


def test_words_may_stay_whole_while_the_pooled_vector_is_dropped():
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="", width=D, position="none", norm="none", pooling="max", head="untied",
                        dropout={"name": "independent", "rate": 0.5, "input": 0.0}), V)
    ids = torch.randint(V, (B, T))
    hidden = stack(ids)[0]
    torch.testing.assert_close(hidden, F.embedding(ids, stack.embedding.weight))
    assert int((stack.pooled(hidden) == 0).sum()) > 0


@pytest.mark.parametrize("name", names("parts/dropouts"))
@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_an_impossible_rate_is_refused(name, rate):
    with pytest.raises(OptionError, match=f"rate = {rate}, expected at least 0 and less than 1"):
        build("parts/dropouts", {"name": name, "rate": rate}, Place(D))


def test_variational_rates_differ_before_between_and_after_the_sublayers():
    stack = Stack(Shape(pattern="rrr", width=D, wiring="plain", norm="none", position="none", dropout={
        "name": "variational", "rate": 0.25, "input": 0.4, "output": 0.6}), V)
    assert [stack.dropout.rate, *(layer.wiring.dropout.rate for layer in stack.sublayers)] == [0.4, 0.25, 0.25, 0.6]
    alike = Stack(Shape(pattern="rr", width=D, dropout={"name": "variational", "rate": 0.3, "input": 0.0}), V)
    assert [alike.dropout.rate, *(layer.wiring.dropout.rate for layer in alike.sublayers)] == [0.0, 0.3, 0.3]
    for option in ("input", "output"):
        with pytest.raises(OptionError, match=f"Variational.{option} = 1.0, expected at least 0 and less than 1"):
            build("parts/dropouts", {"name": "variational", option: 1.0}, Place(D))
