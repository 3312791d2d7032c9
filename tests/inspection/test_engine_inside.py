"""A model of the engine shows attention, layers, positions and neighbors as the torch model with its weights does."""

import json
import subprocess
import sys

import numpy as np
import pytest

import chainrule

TEXT = "the cat sat on the mat.\n" * 20
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; from chainrule.cli.app import main; main(sys.argv[1:])"
RECIPE = """
family: engine
tokenizer: characters
model: {pattern: sfr, width: 12, context: 24, heads: 2, position: POSITION}
training: {budget: {steps: 3}, batch: 2, keep: 0}
"""


def looked(run, folder):
    """What `chainrule inspect --json` says of a line, in a process without torch if the run is the engine's."""
    start = ["-c", WITHOUT_TORCH] if run == "run" else ["-m", "chainrule"]
    found = subprocess.run([sys.executable, *start, "inspect", run, "--text-is", "the cat sat", "--json"], cwd=folder,
                           capture_output=True, text=True, check=True, timeout=600)
    return json.loads(found.stdout)["models"][0]


@pytest.mark.parametrize("position", ["rotary", "learned"])
def test_inspecting_the_engine_gives_the_same_as_torch(position, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "recipe.yaml").write_text(RECIPE.replace("POSITION", position))
    (tmp_path / "text.txt").write_text(TEXT)
    chainrule.train(tmp_path / "recipe.yaml", tmp_path / "text.txt", tmp_path / "run")
    subprocess.run([sys.executable, "-m", "chainrule", "export", "run", "--to", "neural", "torch"], cwd=tmp_path,
                   check=True, capture_output=True, timeout=600)
    ours, theirs = looked("run", tmp_path), looked("torch", tmp_path)
    for key in ("heads", "name"):
        assert len(ours["attention"]["layers"]) == 1
        mine, other = (each["attention"]["layers"][0][key] for each in (ours, theirs))
        assert mine == other if key == "name" else np.allclose(mine, other, atol=2e-4)
    assert ours["layers"]["names"] == theirs["layers"]["names"] == ["embedding", "0 attention", "1 swiglu", "2 lstm"]
    np.testing.assert_allclose(ours["layers"]["cka"], theirs["layers"]["cka"], atol=2e-4)
    np.testing.assert_allclose(ours["positions"]["forms"][0]["similarity"],
                               theirs["positions"]["forms"][0]["similarity"], atol=2e-4)
    assert [each["near"][0]["text"] for each in ours["neighbors"]] == [
        each["near"][0]["text"] for each in theirs["neighbors"]]
    assert ours["said"] == []
