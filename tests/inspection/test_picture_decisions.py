"""Which pixels decided: gradient × input and covered squares where both are known exactly, and attention."""

import numpy as np
import pytest
import torch

import chainrule
from chainrule.inputs.image_arrays import write_idx
from chainrule.inspection.decision_pictures import decision_figure
from chainrule.inspection.picture_decisions import explain_pictures

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    draw = np.random.default_rng(0)
    labels = np.arange(24) % 3
    write_idx(folder / "images-idx3-ubyte", draw.integers(0, 90, (24, 8, 12)) + 80 * labels[:, None, None])
    write_idx(folder / "labels-idx1-ubyte", labels)
    for name, changes in (("linear", ["model.embedding=image_rows", "model.pooling=mean"]),
                          ("vit", ["model.embedding.class_token=true", "model.pattern=(sf)*2", "model.pooling=first"])):
        chainrule.train("vit", folder / "images-idx3-ubyte", folder / name, overrides=[
            "training.budget.steps=3", "training.batch=8", "training.ema=null", "model.width=12", "task.inputs.shift=0",
            *(["model.pattern="] if name == "linear" else []), *changes])
    return folder


def explained(folder, name):
    return explain_pictures(folder / name, [f"{folder / 'images-idx3-ubyte'}#1"])["pictures"][0]


def test_of_a_linear_model_the_pixels_add_up_to_the_difference(folder):
    """ln p(a) − ln p(b) = w · x + c, so Σ x ∂/∂x is the difference without what an empty picture has."""
    found, run = explained(folder, "linear"), chainrule.load(folder / "linear")
    with torch.no_grad():
        zero = run.model.stack.head.log_probs(run.model.stack.summary(torch.zeros(1, 8, 12, 1)))[0].numpy()
    a, b = (list(run.model.labels).index(found[name]) for name in ("label", "runner_up"))
    total = np.sum(found["gradient_times_input"])
    assert total == pytest.approx(found["margin"] - (zero[a] - zero[b]), abs=0.02)
    assert np.array(found["covered"]).sum() == pytest.approx(total, abs=0.02)  # squares share the pixels


def test_maps_have_the_shapes_of_the_picture_and_of_its_places(folder):
    found = explained(folder, "vit")
    assert np.shape(found["gradient_times_input"]) == (8, 12) and np.shape(found["pixels"]) == (8, 12, 1)
    assert np.shape(found["covered"]) == (4, 6)
    names = [each["name"] for each in found["attention"]]
    assert names == ["sublayer 0", "sublayer 2", "rollout"] and found["attention"][0]["by"] == "class token"
    assert all(np.shape(each["weights"]) == (2, 3) and 0 < np.sum(each["weights"]) <= 1.001
               for each in found["attention"])
    assert explained(folder, "linear")["attention"] == []
    probabilities = [each["probability"] for each in found["labels"]]
    assert len(probabilities) == 3 and sum(probabilities) == pytest.approx(1)


def test_the_figure_has_a_picture_and_a_map_for_each(folder):
    found = explained(folder, "vit")
    svg = decision_figure(found).svg()
    assert svg.count("<image ") == 1 + 2 * 5  # the picture, and below each map a pale one
    assert "gradient × input" in svg and "attention, rollout" in svg and f"{found['label']} " in svg


def test_looking_changes_no_weight_and_leaves_no_gradient(folder):
    run = chainrule.load(folder / "vit")
    before = {name: each.clone() for name, each in run.model.stack.state_dict().items()}
    explain_pictures(run, [f"{folder / 'images-idx3-ubyte'}#0"])
    assert all(torch.equal(each, before[name]) for name, each in run.model.stack.state_dict().items())
    assert all(each.grad is None for each in run.model.stack.parameters())
