"""Every shipped recipe: the small ones train for a few steps, the large ones are built without memory."""

import pytest
import torch

import chainrule
from chainrule.families._stepwise import shape_of
from chainrule.models.cost.counting import on_meta
from chainrule.recipe.recipe import described, load_recipe, shipped
from chainrule.recipe.registry import build

pytestmark = pytest.mark.usefixtures("one_thread")
NEURAL = {name: row["description"] for name, row in described().items() if row["family"] == "neural"}
LARGE = [name for name, text in NEURAL.items() if "for a GPU" in text or "`chainrule cost`" in text]
SMALL = [name for name in NEURAL if name not in LARGE]
ON_TEXT = [name for name in SMALL if load_recipe(name).task["name"] in ("language", "masked_language")]
LINE = "the cat sat on the mat , and a dog looked at {} of them .\n"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "cats.txt"
    path.write_text("".join(LINE.format(n % 17) for n in range(700)))
    return path


def test_the_recipes_of_the_issue_are_there():
    assert {"nnlm", "gated-conv", "rnn", "ugrnn", "gru", "lstm", "transformer", "gpt"} <= set(SMALL)
    assert {"shakespeare-char", "lstm-medium", "lstm-large", "gpt2-xl", "gpt3-175b"} <= set(shipped())
    assert all(each["description"].endswith((".", "`.")) for each in described().values())


@pytest.mark.parametrize("name", ON_TEXT)
def test_a_small_recipe_trains_scores_and_writes(name, text, tmp_path):
    """Two steps of the recipe as it is, but for fewer rows and a validation text."""
    report = chainrule.train(name, text, tmp_path / "run", overrides=[
        "training.budget.steps=2", "training.batch=2", "training.evaluate_every=1", "split.valid=0.1"])
    assert report["steps"] == 2 and report["valid"]["perplexity"] < 1e6 and report["skipped_steps"] == 0
    run = chainrule.load(tmp_path / "run")
    assert run.recipe.description.startswith(NEURAL[name])
    if run.recipe.task["name"] == "language":
        assert chainrule.generate(run, "the cat", max_tokens=3)
    else:
        assert len(chainrule.fill(run, "the [MASK] sat")[0]) > 1


@pytest.mark.parametrize("name", [name for name in SMALL if name not in ON_TEXT])
def test_a_small_recipe_of_another_task_learns_what_its_task_calls_small(name, tmp_path):
    small = build("tasks", load_recipe(name).task).small(tmp_path)
    report = chainrule.train(name, small.data, tmp_path / "run", valid=small.data, target=small.target,
                             valid_target=small.target, overrides=["training.budget.steps=2", "training.batch=4"])
    assert report["steps"] == 2 and report["skipped_steps"] == 0 and report["valid"]
    assert chainrule.load(tmp_path / "run").recipe.description.startswith(NEURAL[name])


@pytest.mark.parametrize("name", LARGE)
def test_a_large_recipe_reads_and_learns_without_memory(name):
    """The whole model forward and backward on the meta device: every parameter gets a gradient of its shape."""
    recipe = load_recipe(name)
    stack = on_meta(shape_of(recipe), recipe.tokenizer.get("size") or 10_000)
    ids = torch.zeros(1, 3, dtype=torch.long, device="meta")
    stack.head.log_probs(stack(ids)[0]).sum().backward()
    assert all(each.grad is not None and each.grad.shape == each.shape for each in stack.parameters())


@pytest.mark.parametrize("name", NEURAL)
def test_a_recipe_round_trips(name, tmp_path):
    recipe = load_recipe(name)
    (tmp_path / "same.yaml").write_text(recipe.to_yaml())
    assert load_recipe(tmp_path / "same.yaml") == recipe
