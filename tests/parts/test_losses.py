"""Auxiliary losses of parts: collected in training, summed by name, and ignored elsewhere."""

import pytest
import torch

from chainrule.parts.losses import add_loss, collected_losses


def test_losses_of_one_name_are_summed_and_others_kept_apart():
    with collected_losses() as found:
        for value in (1.0, 2.5):
            add_loss("balance", value)
        add_loss("size", 4.0)
    assert found == {"balance": 3.5, "size": 4.0}


def test_a_loss_added_outside_a_block_is_ignored():
    add_loss("balance", 1.0)
    with collected_losses() as found:
        pass
    add_loss("balance", 2.0)
    assert found == {}


def test_an_inner_block_collects_for_itself():
    with collected_losses() as outer:
        add_loss("balance", 1.0)
        with collected_losses() as inner:
            add_loss("balance", 10.0)
        add_loss("balance", 2.0)
    assert (outer, inner) == ({"balance": 3.0}, {"balance": 10.0})


def test_a_block_that_fails_is_closed():
    with pytest.raises(ZeroDivisionError), collected_losses() as broken:
        add_loss("balance", 1 / 0)
    add_loss("balance", 1.0)
    assert broken == {}


def test_gradients_flow_through_what_is_collected():
    weight = torch.tensor(3.0, requires_grad=True)
    with collected_losses() as found:
        add_loss("square", weight**2)
        add_loss("square", 2 * weight)
    found["square"].backward()
    assert weight.grad.item() == 2 * 3.0 + 2.0
