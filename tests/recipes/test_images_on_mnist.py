"""The image recipes on MNIST itself: what they learn in a few hundred steps."""

from pathlib import Path

import pytest

import chainrule

DATA = Path(__file__).parents[3] / "shared" / "data" / "mnist"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public data sets in ../shared/data")
@pytest.mark.parametrize(("recipe", "steps", "least"), [("image-cnn", 400, 0.97), ("image-rnn", 400, 0.95),
                                                        ("vit", 500, 0.9)])
def test_a_recipe_learns_digits(recipe, steps, least, tmp_path):
    chainrule.train(recipe, DATA / "train-images-idx3-ubyte.gz", tmp_path / "run",
                    overrides=[f"training.budget.steps={steps}"])
    found = chainrule.evaluate(tmp_path / "run", DATA / "t10k-images-idx3-ubyte.gz", bootstrap=0)
    assert found["examples"] == 10_000 and found["accuracy"] > least
