"""`chainrule generate` opens small neural runs without torch, and writes what torch would."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from chainrule.generation.decoder import decode  # noqa: E402
from chainrule.generation.rows import Marks  # noqa: E402
from chainrule.models import writing  # noqa: E402
from chainrule.models.engine_language import EngineLanguageModel  # noqa: E402
from chainrule.models.language import NeuralLanguageModel  # noqa: E402
from chainrule.recipe.registry import build  # noqa: E402
from chainrule.runs import load  # noqa: E402
from chainrule.verbs.train import train  # noqa: E402

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; from chainrule.cli.app import main; main(sys.argv[1:])"
SMALL = ["tokenizer=characters", "model.width=16", "model.context=16", "training.budget={steps: 40}",
         "training.batch=4", "training.device=cpu"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("writing")
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat, and the dog lay by the door all day long.\n" * 30)
    train("gpt", text, folder / "gpt", overrides=[*SMALL, "model.pattern=sf"])
    train("gated-conv", text, folder / "conv", overrides=[*SMALL, "model.pattern=c"])
    return folder


def generate(folder, run, code=0):
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, "generate", run, "--prompt", "the ", "--max-tokens",
                           "30", "--num", "2", "--json"], cwd=folder, text=True, capture_output=True, timeout=600,
                          env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "", "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == code, done.stderr
    return done


def test_a_run_writes_without_torch_what_torch_writes(folder):
    found = json.loads(generate(folder, "gpt").stdout)["texts"]
    run = load(folder / "gpt")
    assert isinstance(run.model, NeuralLanguageModel)
    prompts = run.tokenizer.encode("the ")[None].repeat(2, axis=0)
    drafts = decode(run.model, prompts, build("generation/strategies", "sample"), max_tokens=30,
                    marks=Marks(run.tokenizer.start, run.tokenizer.end, run.tokenizer.unknown))
    assert [tuple(text["ids"]) for text in found] == [best[0].written for best in drafts]
    assert [text["log_prob"] for text in found] == pytest.approx([best[0].log_p for best in drafts], abs=1e-3)


def test_parts_that_the_engine_lacks_need_torch(folder):
    assert "need torch" in generate(folder, "conv", code=2).stderr


def test_with_a_gpu_torch_generates(folder, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(writing, "DRIVERS", (str(folder / "text.txt"),))
    assert isinstance(load(folder / "gpt", to_write=True).model, NeuralLanguageModel)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert isinstance(load(folder / "gpt", to_write=True).model, EngineLanguageModel)
