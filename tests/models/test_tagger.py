"""A stack as a tagger: padding, pieces and order change nothing, and the head decides how tags are chosen."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from chainrule.inputs.modalities.words import Words
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.models.tagger import NeuralTagger, in_pieces
from chainrule.tasks._known import Known

SENTENCES = [("the", "cow"), ("a",), ("cows", "eat", "the", "hay", "of", "the", "cow"), ("Zebus", "sing")]


def made(head="untied", context=16):
    torch.manual_seed(0)
    words = Words()
    _, inputs = words.learn(SENTENCES[:3], SimpleNamespace(start=None))
    tokens, features = words.sizes(0, inputs)
    sizes = Sizes(tokens, 3, features)
    stack = Stack(Shape(pattern="rs", width=12, context=context, causal=False, embedding="words_by_convolution",
                        head=head), sizes)
    with torch.no_grad():
        for each in stack.head.parameters():
            each.normal_()
    return NeuralTagger(stack, Known(None, sizes, {"tags": ["A", "B", "C"], "inputs": inputs}), words)


@pytest.mark.parametrize("head", ["untied", "crf", "mlp"])
def test_a_sentence_is_tagged_alike_alone_and_beside_others(head):
    model = made(head)
    together = model.tag(SENTENCES)
    assert together == [model.tag([each])[0] for each in SENTENCES] == model.tag(SENTENCES[::-1])[::-1]
    assert [len(own) for own in together] == [len(each) for each in SENTENCES]
    for one, each in zip(model.probabilities(SENTENCES), SENTENCES, strict=True):
        np.testing.assert_allclose(one, model.probabilities([each])[0], atol=1e-6)
        np.testing.assert_allclose(one.sum(1), 1, atol=1e-5)


def test_without_a_chain_the_likeliest_tag_of_each_word_is_chosen():
    model = made()
    for own, p in zip(model.tag(SENTENCES), model.probabilities(SENTENCES), strict=True):
        assert own == [model.tags[n] for n in p.argmax(1)]
    assert model.tag_transitions() is None


def test_a_chain_chooses_tags_together():
    model = made("crf")
    with torch.no_grad():
        model.stack.head.transitions.fill_(-50).fill_diagonal_(0)  # only one tag all along
    assert all(len(set(own)) == 1 for own in model.tag(SENTENCES))
    assert model.tag_transitions().shape == (3, 3) and model.tag_transitions()[0, 1] == -50


def test_an_empty_sentence_has_no_tags():
    model = made()
    assert model.tag([(), ("a",), ()])[::2] == [[], []] and model.tag([]) == []
    assert model.probabilities([()])[0].shape == (0, 3)


def test_a_sentence_beyond_the_context_is_read_in_pieces_and_said_aloud(caplog):
    model = made(context=3)
    with caplog.at_level(logging.WARNING, "chainrule"):
        [found] = model.tag([SENTENCES[2]])
    assert len(found) == 7
    assert "1 sentence is longer than model.context = 3 words, up to 7: read in pieces." in caplog.text
    pieces = in_pieces(SENTENCES[2], 3)
    assert [len(each) for each in pieces] == [2, 2, 3] and found == [tag for own in model.tag(pieces) for tag in own]


def test_it_knows_the_words_of_its_training_in_any_case():
    model = made()
    assert model.knows("COW") and model.knows("the") and not model.knows("zebus")
