"""`chainrule inspect --gradients` on the engine: ready examples and runs, without torch."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chainrule.verbs.train import train

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; from chainrule.cli.app import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("through-time")
    (folder / "text.txt").write_text("the cat sat on the mat, and the dog lay by the door all day long.\n" * 30)
    return folder


def inspect(folder, *words, code=0):
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, "inspect", *words, "--gradients", "--data",
                           "text.txt"], cwd=folder, text=True, capture_output=True, timeout=600,
                          env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""})
    assert done.returncode == code, done.stderr
    return done


def test_one_picture_shows_what_vanishes_explodes_is_clipped_and_stays_alive(folder):
    found = json.loads(inspect(folder, "through-time", "--distance", "40", "--out", "time.svg", "--json").stdout)
    models = {each["name"]: each for each in found["models"]}
    assert list(models) == ["RNN, U = 0.8 Q", "RNN, U = 3 Q", "LSTM", "residual stack"]
    small, large, lstm, residual = ([each["by_distance"][0][d] for d in (1, 40)] for each in models.values())
    assert small[1] < 1e-3 * small[0] and large[1] > 1e3 * large[0]
    assert 0.1 < lstm[1] / lstm[0] < 100 and 0.1 < residual[1] / residual[0] < 100
    assert models["RNN, U = 3 Q"]["norm"] > 100 and models["RNN, U = 3 Q"]["clipped"] == pytest.approx(1.0)
    texts = [node.text for node in ElementTree.parse(folder / "time.svg").iter() if node.text]
    assert "clipped: RNN, U = 3 Q" in texts and "clipped: LSTM" not in texts
    assert "Models of one layer: the gradient of the layer's parameters" in texts
    assert f"{models['LSTM']['by_layer'][0]:.3g}" in texts, "a bar has its number"


def test_residual_connections_carry_gradients_through_depth(folder):
    done = inspect(folder, "through-depth", "seed=1", "--distance", "9", "--out", "depth.svg", "--json")
    plain, residual = (each["by_layer"] for each in json.loads(done.stdout)["models"])
    assert plain[0] < 1e-6 * plain[-1] and 0.1 < residual[0] / residual[-1] < 100
    texts = [node.text for node in ElementTree.parse(folder / "depth.svg").iter() if node.text]
    assert "Gradient of each layer's parameters" in texts and "16 layers, residual" in texts
    assert not [text for text in texts if "through time" in text], "feedforwards mix no tokens"


def test_runs_of_the_engine_are_measured_too(folder):
    for recipe in ("engine-lstm", "engine-nnlm"):
        train(recipe, folder / "text.txt", folder / recipe, overrides=[
            "tokenizer=characters", "model.width=8", "model.context=16", "training.budget.steps=2", "training.keep=0"])
    shown = inspect(folder, "engine-lstm", "--distance", "12").stdout
    assert "0 lstm" in shown and "1 lstm" in shown and "d=12" in shown
    found = json.loads(inspect(folder, "./engine-nnlm", "./engine-lstm", "--distance", "12", "--json").stdout)
    assert [each["name"] for each in found["models"]] == ["./engine-nnlm", "./engine-lstm"]
    window = found["models"][0]["by_distance"][0]
    assert all(window[:5]) and not any(window[5:]), "a window of five tokens sees no further"


def test_neural_recipes_say_that_they_need_torch(folder):
    assert "need torch" in inspect(folder, "transformer", code=2).stderr
