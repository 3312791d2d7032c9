"""Decoding in steps of a fixed shape writes the same text as the decode loop."""

import numpy as np
import pytest
import torch

from chainrule.errors import OptionError
from chainrule.generation.decode import Marks, decode
from chainrule.models.fixed import FixedDecoder
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Shape, Stack
from chainrule.registry import build

START, PROMPTS = 0, torch.tensor([[3, 5, 2], [7, 1, 1]])
SENTENCES = [("(sf)*2", "rotary"), ("(sf)*2", "learned"), ("(sf)*2", "alibi"), ("(rsf)*2", "none"), ("cfw", "none")]


def made(pattern, position, **parts):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    parts = {"s": {"name": "attention", "heads": 4, "groups": 2}, "embedding": {"name": "lookup", "deviation": 1.0},
             **parts}
    return Stack(Shape(pattern=pattern, width=24, context=32, position=position, head="untied", **parts), 13).eval()


def greedily(stack, count):
    found = decode(NeuralLanguageModel(stack, START), PROMPTS.numpy(), build("generation/strategies", "greedy"),
                   marks=Marks(START, -1), max_tokens=count)
    return np.array([drafts[0].written for drafts in found])


def prompted(stack):
    """Prompts that begin with <s>, and a head that never writes it: so does the decode loop."""
    with torch.no_grad():
        stack.head.bias[START] = -1e9
    return torch.cat([torch.full((2, 1), START), PROMPTS], dim=1)


@pytest.mark.parametrize(("pattern", "position"), SENTENCES)
def test_the_text_is_that_of_the_decode_loop(pattern, position):
    stack = made(pattern, position)
    prompts = prompted(stack)
    written = FixedDecoder(stack, 2, 24).write(prompts, 20)
    assert len(set(written.flatten().tolist())) > 3
    np.testing.assert_array_equal(written.numpy(), greedily(stack, 20))


def test_a_decoder_may_be_used_again():
    stack = made("(rsf)*2", "none")
    prompts, decoder = prompted(stack), FixedDecoder(stack, 2, 24)
    first = decoder.write(prompts, 9)
    assert torch.equal(decoder.write(prompts, 9), first)
    assert torch.equal(decoder.write(prompts, 5), first[:, :5])


def test_a_step_is_one_graph_for_a_compiler():
    stack = made("(sf)*2", "rotary")
    prompts = prompted(stack)
    plain = FixedDecoder(stack, 2, 16).write(prompts, 8)
    assert torch.equal(FixedDecoder(stack, 2, 16).compiled(backend="eager").write(prompts, 8), plain)


def test_more_than_there_is_room_for_is_refused():
    stack = made("(sf)*2", "learned")
    with pytest.raises(OptionError, match="at most the model's context 32"):
        FixedDecoder(stack, 2, 40)
    with pytest.raises(OptionError, match="at most 7 in this room"):
        FixedDecoder(stack, 2, 10).write(prompted(stack), 8)
