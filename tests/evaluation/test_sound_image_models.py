"""Models of what is no text are tried before they are saved, too."""

import pytest
import torch

import chainrule
from chainrule.evaluation.sound import unsound
from chainrule.inputs.modalities.images import Images
from chainrule.recipe.registry import build

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(("recipe", "what"), [("image-rnn", "labels"), ("pixel-lm", "pixels")])
def test_weights_that_are_no_numbers_are_found(recipe, what, tmp_path):
    small = Images().small(tmp_path) if what == "labels" else build("tasks", "image_language").small(tmp_path)
    chainrule.train(recipe, small.data, tmp_path / "run", overrides=["training.budget.steps=1", "training.batch=4",
                                                                     "model.width=16"])
    model = chainrule.load(tmp_path / "run").model
    assert unsound(model, None, (0.99, 1.01)) is None
    with torch.no_grad():
        next(model.stack.head.parameters()).fill_(float("nan"))
    assert unsound(model, None, (0.99, 1.01)) == f"the probabilities of {what} are not from 0 to 1"
