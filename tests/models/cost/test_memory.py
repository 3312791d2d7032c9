"""Memory on the meta device against what real models keep."""

from functools import partial

import pytest
import torch

from chainrule.models.cost.memory import activations, decoding_memory, kept_bytes, training_memory
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.recipe.registry import build, find, names

V = 101
SHAPES = {
    "modern": Shape("(sf)*3", 24, 16, parts={"s": {"name": "attention", "heads": 4, "groups": 2}}),
    "gpt": Shape("(sf)*2", 24, 16, parts={"s": {"name": "attention", "heads": 3, "bias": True}, "f": "mlp"},
                 norm="layer", position="learned", wiring="post_norm", dropout={"name": "independent", "rate": 0.1}),
    "scanned": Shape("(abgmrk)*2", 24, 16, position="none", parts={
        "a": "min_gru", "b": "min_lstm", "g": "gated_linear_recurrence", "m": "selective_state_space", "r": "rwkv",
        "k": "rwkv_channels"}),
    "over positions": Shape("(mgld)*2", 24, 16, position="none", parts={
        "m": "mlp_mixer", "g": "gmlp", "l": "lightweight_convolution", "d": "dynamic_convolution"}),
}
RECURRENT = Shape("rr", 64, 16, wiring="plain", position="none")


@pytest.mark.parametrize("name", SHAPES)
def test_activations_are_what_autograd_keeps_on_a_cpu(name):
    real = kept_bytes(Stack(SHAPES[name], V), torch.zeros(5, 16, dtype=torch.long))
    assert activations(SHAPES[name], V, (5, 16)) == real


@pytest.mark.parametrize("name", names("parts/attention"))
def test_activations_of_every_attention_can_be_counted(name):
    """Heads are wide enough for fused kernels, whose place a stand-in takes on the meta device."""
    causal = getattr(find("parts/attention", name), "reads", "either") != "both ways"
    shape = Shape("s", 48, 16, parts={"s": {"name": name, "heads": 3}}, causal=causal)
    alone = activations(Shape("", 48, 16), V, (5, 16))
    assert activations(shape, V, (5, 16)) > alone + 4 * 5 * 16 * 48  # at least what it reads


def test_activations_of_an_lstm_are_those_of_its_equations():
    """oneDNN, torch's path on most CPUs, keeps up to 2.5 times as much."""
    real = kept_bytes(Stack(RECURRENT, V), torch.zeros(5, 16, dtype=torch.long))
    assert 0.4 * real < activations(RECURRENT, V, (5, 16)) <= 1.1 * real


def test_activations_grow_with_the_rows_and_shrink_with_the_precision():
    shape = SHAPES["gpt"]
    whole = activations(shape, V, (8, 16))
    assert whole == pytest.approx(2 * activations(shape, V, (4, 16)), rel=0.01)
    assert activations(shape, V, (8, 16), torch.bfloat16) == pytest.approx(whole / 2, rel=0.1)


@pytest.mark.parametrize("pattern", ["[sf]*3", "s[sf]*2 f", "{sf}*3 s"])
def test_shared_sublayers_have_weights_once_and_activations_each_time(pattern):
    shape = Shape(pattern, 24, 16)
    stack = Stack(shape, V)
    weights = sum(each.nbytes for each in stack.parameters())
    found = training_memory(shape, V, (5, 16))
    assert (found.weights, found.optimizer) == (weights, 2 * weights)
    assert found.activations == kept_bytes(stack, torch.zeros(5, 16, dtype=torch.long))


def test_weights_gradients_and_optimizer_are_those_of_a_real_model():
    stack = Stack(SHAPES["modern"], V)
    weights = sum(each.nbytes for each in stack.parameters())
    found = training_memory(SHAPES["modern"], V, (2, 16))
    assert (found.weights, found.gradients, found.optimizer) == (weights, weights, 2 * weights)  # Adam's two moments
    plain = training_memory(SHAPES["modern"], V, (2, 16), optimizer=lambda weights: torch.optim.SGD(weights, 0.1))
    assert plain.optimizer == 0 and plain.total == found.total - 2 * weights


def test_muon_keeps_one_number_for_each_of_a_hidden_matrix_and_two_for_all_else():
    stack = Stack(SHAPES["modern"], V)
    hidden = sum(each.nbytes for name, each in stack.named_parameters() if "body" in name)
    found = training_memory(SHAPES["modern"], V, (2, 16), optimizer=partial(build, "training/optimizers", "muon"))
    assert found.optimizer == 2 * found.weights - hidden


def test_keys_and_values_are_what_a_token_adds_to_the_cache():
    found = decoding_memory(SHAPES["modern"], V)
    assert (found.fixed, found.per_token) == (0, 3 * 2 * 2 * 6 * 4)  # layers, keys and values, groups, width, bytes
    state = Stack(SHAPES["modern"], V).start(1, 10)
    assert sum(each.entries.nbytes for each in state.sublayers if each) == 10 * found.per_token


def test_a_sliding_window_keeps_as_many_keys_as_it_is_long():
    shape = Shape("(sf)*3", 24, 16, parts={"s": {"name": "sliding_window", "window": 5}})
    found = decoding_memory(shape, V)
    assert (found.fixed, found.per_token) == (3 * 2 * 5 * 24 * 4, 0)  # layers, keys and values, places, width, bytes


def test_a_recurrent_state_stays_the_same():
    assert decoding_memory(RECURRENT, V).per_token == 0 and decoding_memory(RECURRENT, V).fixed == 2 * 2 * 64 * 4
