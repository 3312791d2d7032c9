"""Task2Vec: alike data sets are near each other; distance and Fisher information are as they are defined."""

import json

import numpy as np
import pytest

import chainrule
from chainrule.cli.app import main
from chainrule.errors import DataError, UsageError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("tasks"), np.random.default_rng(0)
    colors, animals = ["red", "blue", "green", "pink"], ["cat", "dog", "cow", "hen"]
    sets = {"colors": [], "more-colors": [], "animals": []}
    lines = []
    for _ in range(150):
        color, animal = str(draw.choice(colors)), str(draw.choice(animals))
        text = f"a {color} {animal} sleeps"
        lines.append(text)
        sets["colors"].append((str(color in ("red", "pink")), text))
        other = str(draw.choice(colors))
        sets["more-colors"].append((str(other in ("red", "pink")), f"a {other} {draw.choice(animals)} sleeps"))
        sets["animals"].append((str(animal in ("cat", "dog")), text))
    for name, rows in sets.items():
        (folder / f"{name}.txt").write_text("".join(f"__label__{label} {text}\n" for label, text in rows))
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    chainrule.train("lstm", folder / "text.txt", folder / "probe", overrides=[
        "model.width=24", "model.context=16", "training.budget.steps=150", "tokenizer=words", "training.batch=8",
        "training.optimizer=adamw", "training.optimizer.rate=0.01"])
    return folder


def test_alike_tasks_are_near(folder):
    from chainrule.inspection.task_map import task_map

    found = task_map([folder / f"{name}.txt" for name in ("colors", "more-colors", "animals")], folder / "probe",
                     most=120)
    matrix = np.array(found["distances"])
    assert np.allclose(matrix, matrix.T, atol=1e-6) and np.allclose(np.diag(matrix), 0, atol=1e-6)
    assert matrix[0, 1] < matrix[0, 2] and matrix[0, 1] < matrix[1, 2]
    assert found["texts"] == [120] * 3 and found["labels"] == [2] * 3 and np.shape(found["places"]) == (3, 2)


def test_the_fisher_information_agrees_with_its_definition(folder):
    from chainrule.models.inside import fisher

    stack = chainrule.load(folder / "probe").model.stack
    arrays, labels = [np.array([1, 3, 4]), np.array([1, 5])], np.array([0, 1])
    found = fisher.embedded(stack, arrays, labels, classes=2, seed=3)
    pooled = torch.stack([fisher._vector(stack, each).detach() for each in arrays])
    center, scale = pooled.mean(0), pooled.std(0) + 1e-6
    head = fisher._trained((pooled - center) / scale, torch.from_numpy(labels), 2, 3)
    draw, sums = torch.Generator().manual_seed(3), 0.0
    for array in arrays:
        stack.zero_grad()
        log_p = head((fisher._vector(stack, array) - center) / scale).log_softmax(-1)
        log_p[int(torch.multinomial(log_p.detach().exp(), 1, generator=draw))].backward()
        sums = sums + np.concatenate([each.grad.square().mean(1).numpy() for each in stack.sublayers.parameters()
                                      if each.dim() > 1])
    np.testing.assert_allclose(found, sums / 2, rtol=1e-4, atol=1e-12)


def test_the_distance_is_symmetric_and_does_not_depend_on_size():
    from chainrule.models.inside.fisher import distance

    one, other = np.random.default_rng(0).random((2, 50))
    assert distance(one, one) == pytest.approx(0) and distance(one, other) == pytest.approx(distance(other, one))
    a, b = one / (one + other), other / (one + other)
    assert distance(one, other) == pytest.approx(1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_command_prints_and_draws(folder, capsys):
    names = [str(folder / f"{name}.txt") for name in ("colors", "animals")]
    with pytest.raises(SystemExit) as ended:
        main(["inspect", "--tasks", *names, "--probe", str(folder / "probe"), "--out", str(folder / "a.svg"),
              "--json"])
    assert ended.value.code == 0 and json.loads(capsys.readouterr().out)["tasks"] == names
    assert "colors" in (folder / "a.svg").read_text()


def test_mistakes_are_one_line(folder, tmp_path):
    from chainrule.inspection.task_map import task_map

    with pytest.raises(UsageError, match="1 data sets, expected at least 2 to compare"):
        task_map([folder / "colors.txt"], folder / "probe")
    (tmp_path / "one.txt").write_text("__label__x a b\n" * 5)
    with pytest.raises(DataError, match="one.txt: one label, expected at least two"):
        task_map([folder / "colors.txt", tmp_path / "one.txt"], folder / "probe")
    chainrule.train("ngram", folder / "text.txt", tmp_path / "ngram", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="expected a neural run that reads text as a probe"):
        task_map([folder / "colors.txt", folder / "animals.txt"], tmp_path / "ngram")
