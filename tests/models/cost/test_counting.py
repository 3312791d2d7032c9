"""Parameters and FLOPs on the meta device: against formulas, against real models, and against published tables."""

import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from chainrule.models.cost.counting import counted, parameters
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack

V, D, T = 101, 24, 7  # vocabulary, width, context: no two sizes alike
SHAPES = {
    "modern": Shape("(sf)*3", D, T, parts={"s": {"name": "attention", "heads": 4, "groups": 2}}),
    "gpt": Shape("(sf)*2", D, T, parts={"s": {"name": "attention", "heads": 3, "bias": True}, "f": "mlp"},
                 norm="layer", position="learned"),
    "recurrent": Shape("rr", D, T, wiring="plain", position="none", head="untied"),
    "hybrid": Shape("(rsf)*2 f", D, T),
    "shared": Shape("s[sf]*3", D, T),
    "shared with own norms": Shape("s{sf}*3", D, T),
    "windowed": Shape("(sf)*2", D, T, parts={"s": {"name": "sliding_window", "window": 4}}, wiring="deep_norm"),
    "experts": Shape("(sf)*2", D, T, parts={"f": {"name": "mixture_of_experts", "experts": 4}}, wiring="rezero"),
    "adaptive": Shape("sf", D, T, head="adaptive"),
    "scanned": Shape("(am)*2 (rk)*2", D, T, parts={"a": "min_gru", "m": "selective_state_space", "r": "rwkv",
                                                 "k": "rwkv_channels"}),
    "over positions": Shape("(mg)*2", D, T, parts={"m": "mlp_mixer", "g": "gmlp"}),
}


def of(shape, name):
    (found,) = [part for part in counted(shape, V) if part.name == name]
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_the_parts_add_up_to_the_model(name):
    assert parameters(SHAPES[name], V) == sum(each.numel() for each in Stack(SHAPES[name], V).parameters())


@pytest.mark.parametrize("name", SHAPES)
def test_the_parts_add_up_to_the_arithmetic_of_the_model(name):
    """One sublayer of each letter was run; here all of them are."""
    with torch.device("meta"):
        stack = Stack(SHAPES[name], V)
        ids = torch.zeros(1, T, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        log_p = stack.head.log_probs(stack(ids)[0])
        forward = counter.get_total_flops()
        log_p.sum().backward()
    parts = counted(SHAPES[name], V)
    assert sum(part.forward for part in parts) == pytest.approx(forward / T)
    assert sum(part.training for part in parts) == pytest.approx(counter.get_total_flops() / T)


def test_attention_is_four_maps_and_two_products_over_the_context():
    assert of(SHAPES["gpt"], "attention").forward == 2 * (2 * 4 * D * D + 2 * 2 * T * D)
    assert of(SHAPES["modern"], "attention").forward == 3 * (2 * 3 * D * D + 2 * 2 * T * D)  # keys and values: half


def test_a_recurrence_that_is_scanned_is_its_maps():
    """What is done number by number, such as the scan itself, is not counted; a state space also has a product."""
    scanned, inner, states, rank = SHAPES["scanned"], 2 * D, 16, 2
    assert of(scanned, "min_gru").forward == 2 * 2 * 2 * D * D
    assert of(scanned, "rwkv").forward == 2 * 2 * 4 * D * D
    maps = D * 2 * inner + inner * (rank + 2 * states) + rank * inner + inner * D
    assert of(scanned, "selective_state_space").forward == 2 * 2 * (maps + inner * states)


def test_a_map_over_positions_is_a_product_with_the_context():
    assert of(SHAPES["over positions"], "mlp_mixer").forward == 2 * 2 * 2 * T * D
    assert of(SHAPES["over positions"], "gmlp").forward == 2 * 2 * (D * 4 * D + T * 2 * D + 2 * D * D)


def test_a_feedforward_is_its_matrices():
    assert of(SHAPES["gpt"], "mlp").forward == 2 * 2 * 8 * D * D
    assert of(SHAPES["modern"], "swiglu").forward == 3 * 2 * 3 * D * 64  # ⅔ of 4 D


def test_a_recurrent_cell_is_its_matrices_though_the_counter_does_not_know_it_on_a_cpu():
    lstm = of(SHAPES["recurrent"], "lstm")
    assert lstm.forward == 2 * 2 * 8 * D * D and lstm.parameters == 2 * (8 * D * D + 8 * D)
    assert lstm.training == pytest.approx(3 * lstm.forward, rel=0.05)  # no gradient flows into the state before <s>
    with FlopCounterMode(display=False) as counter:
        torch.nn.LSTM(D, D, batch_first=True)(torch.zeros(1, T, D))
    assert counter.get_total_flops() < lstm.forward / 2 * T  # a torch that counts it makes this note superfluous


def test_training_is_three_times_the_forward_pass():
    for part in counted(SHAPES["modern"], V):
        assert part.training == 3 * part.forward


def test_a_tied_head_computes_but_has_no_parameters():
    assert (of(SHAPES["gpt"], "tied").parameters, of(SHAPES["gpt"], "tied").forward) == (0, 2 * V * D)
    assert of(SHAPES["recurrent"], "untied").parameters == V * D + V


def test_a_shared_block_has_its_weights_once_and_computes_each_time():
    shared, apart = (Shape(pattern, D, T) for pattern in ("[sf]*3", "(sf)*3"))
    assert of(shared, "swiglu").parameters == of(apart, "swiglu").parameters / 3 == 3 * D * 64
    assert of(shared, "swiglu").forward == of(apart, "swiglu").forward and of(shared, "attention").times == 3


def test_a_shared_block_with_norms_of_its_own_has_them_each_time():
    shared, own, apart = (Shape(pattern, D, T) for pattern in ("[sf]*3", "{sf}*3", "(sf)*3"))
    assert of(own, "swiglu") == of(shared, "swiglu")
    assert of(own, "rms") == of(apart, "rms") and of(own, "rms").parameters == 7 * D


def test_convolutions_in_groups_cost_as_much_for_each_gradient_as_forward():
    for name in ("evolved_decoder_branches", "lightweight_convolution"):
        found = of(Shape("m", D, T, parts={"m": name}), name)
        assert found.training == pytest.approx(3 * found.forward)


def test_only_the_experts_of_a_token_are_counted():
    experts, router = of(SHAPES["experts"], "mixture_of_experts"), 2 * D * 4
    one = 2 * 3 * D * 64
    assert of(SHAPES["experts"], "swiglu").parameters + experts.parameters == 2 * (4 * 3 * D * 64 + 4 * D)
    chosen = math.ceil(1.25 * 2 * T / 4) * 4 / T  # of 4 experts 2 for each token, with a quarter more slots than that
    assert experts.forward == pytest.approx(2 * (router + chosen * one))


def test_norms_are_counted_wherever_they_are():
    norm = of(SHAPES["gpt"], "layer")
    assert (norm.kind, norm.times, norm.parameters) == ("norm", 5, 5 * 2 * D)


def test_a_longer_context_costs_more_in_attention_alone():
    shape = SHAPES["hybrid"]
    short, long = ({part.name: part.forward for part in counted(shape, V, context)} for context in (T, 2 * T))
    assert {name for name in short if short[name] != long[name]} == {"attention"}
