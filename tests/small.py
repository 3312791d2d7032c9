"""Small stacks, texts and plans that train in milliseconds."""

import dataclasses

import numpy as np

from chainrule.models.shape import Shape
from chainrule.tasks._text import Text, TextRead
from chainrule.tasks.language import Language
from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import Vocabulary, train_ids
from chainrule.training.networks import new_network
from chainrule.training.plan import Budget, Plan
from chainrule.training.torch_learner import TorchLearner

SIZE = 13
VOCABULARY = Vocabulary(SIZE, start=0, end=1)
TRANSFORMER = Shape(pattern="sf", width=8, context=7, parts={"s": {"name": "attention", "heads": 2}},
                    dropout={"name": "independent", "rate": 0.1})
LSTM = Shape(pattern="rr", width=6, context=5, norm="none", wiring="plain", position="none",
             dropout={"name": "independent", "rate": 0.1})
SHAPES = {"transformer": TRANSFORMER, "lstm": LSTM}
PLAN = Plan(budget=Budget(steps=12), batch=6, evaluate_every=5, log_every=2, seed=3)


def ids(tokens=500, seed=0):
    """Units of a few tokens that a model can learn something about: each token likes its successor."""
    draw, found = np.random.default_rng(seed), []
    while len(found) < tokens:
        unit = [int(draw.integers(2, SIZE))]
        for _ in range(int(draw.integers(3, 20))):
            unit.append(2 + (unit[-1] - 1) % (SIZE - 2) if draw.random() < 0.8 else int(draw.integers(2, SIZE)))
        found += [*unit, 1]
    return np.array(found[:tokens - 1] + [1], np.uint16)


def text(tokens=500, seed=0):
    return Text(ids(tokens, seed), bytes=2 * tokens)


def backwards(tokens=150):
    """A text that gets less likely the more a model learns about the others."""
    return Text(np.append(ids(tokens)[:0:-1], 1).astype(np.uint16), bytes=2 * tokens)


def silent(sentence):
    return None


def train(shape, plan, workspace, *, tokens=500, callbacks=None, valid=None):
    return train_ids(shape, plan, text(tokens), valid or text(150, seed=1), VOCABULARY, workspace, device="cpu",
                     callbacks=callbacks or Callbacks(silent))


def learner(shape, plan, callbacks=None, *, task=None, train=None, valid=None, tokenizer=None):
    """What `train` trains with, before its first step."""
    callbacks, task = callbacks or Callbacks(silent), task or Language()
    network = new_network(shape, SIZE, plan)
    read = TextRead(train or text(), valid, VOCABULARY.start, VOCABULARY.end, tokenizer)
    return TorchLearner(network, task, task.training_data(read, network, plan, callbacks.say), plan, callbacks)


def planned(**changes):
    return dataclasses.replace(PLAN, **changes)
