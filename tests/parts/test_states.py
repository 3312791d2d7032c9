"""States of sublayers: rows are picked, joined and cut off from their history whatever a state is made of."""

from dataclasses import dataclass

import pytest
import torch

from chainrule.errors import ChainruleError
from chainrule.parts import state as states


@dataclass(frozen=True)
class Memory:
    keys: torch.Tensor  # (B, room, 2)
    lengths: torch.Tensor  # (B,)


def memory(rows, room, first=0.0):
    return Memory(first + torch.arange(rows * room * 2.0).view(rows, room, 2), torch.arange(rows))


def test_the_tensors_of_a_state_come_in_one_order_and_go_back_into_it():
    state = (memory(2, 3), None, [torch.zeros(2, 1)])
    assert [tuple(each.shape) for each in states.leaves(state)] == [(2, 3, 2), (2,), (2, 1)]
    doubled = states.mapped(state, lambda tensor: 2 * tensor)
    assert torch.equal(doubled[0].keys, 2 * state[0].keys) and doubled[1] is None and isinstance(doubled[2], list)


def test_picked_rows_are_copies_as_often_and_in_the_order_asked_for():
    state = (memory(3, 2), None)
    picked = states.pick(state, torch.tensor([2, 0, 2]))
    assert torch.equal(picked[0].keys, state[0].keys[[2, 0, 2]]) and picked[0].lengths.tolist() == [2, 0, 2]
    picked[0].keys.zero_()
    assert state[0].keys[1:].all() and picked[1] is None


def test_joined_rows_have_the_largest_room_with_zeros_behind_what_is_there():
    short, long = memory(2, 1, first=1), memory(1, 3, first=10)
    both = states.join([(short, None), (long, None)])[0]
    assert both.keys.shape == (3, 3, 2) and both.lengths.tolist() == [0, 1, 0]
    assert torch.equal(both.keys[:2, :1], short.keys) and torch.equal(both.keys[2:], long.keys)
    assert not both.keys[:2, 1:].any()
    assert states.join([short]) is short


def test_a_detached_state_has_no_history():
    weight = torch.ones(1, 2, 2, requires_grad=True)
    cut = states.detach(Memory(2 * weight, torch.zeros(1)))
    assert not cut.keys.requires_grad and torch.equal(cut.keys, 2 * weight)


@pytest.mark.parametrize(("state", "words"), [
    ((memory(3, 2), 5), r"the state of gru has \[1\] = 5, expected only tensors whose first axis is the row"),
    (Memory(torch.zeros(3, 1, 2), 7), "the state of gru has lengths = 7, expected only tensors"),
    ({"h": torch.zeros(3)}, r"the state of gru has it = \{'h'.*, expected only tensors"),
    (Memory(torch.zeros(3, 1, 2), torch.zeros(2)), r"gru has lengths of the shape \(2,\), expected the 3 rows as its"),
    (torch.zeros(()), r"the state of gru has a tensor of the shape \(\), expected the 3 rows as its first axis")])
def test_a_state_that_would_be_copied_wrongly_is_refused(state, words):
    with pytest.raises(ChainruleError, match=words):
        states.check(state, 3, "gru")


def test_a_state_of_rows_is_not_refused():
    states.check((memory(3, 2), None, [torch.zeros(3)]), 3, "gru")
    states.check(None, 3, "swiglu")
