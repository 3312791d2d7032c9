"""From the command to the loss there are few functions, so that a reader can follow them one by one."""

import re
import traceback
from pathlib import Path

import pytest

import chainrule
from chainrule.cli.app import main
from chainrule.parts.heads._head import Head

PATH = [
    "chainrule/cli/train.py:train",
    "chainrule/verbs/train.py:train",
    "chainrule/families/neural.py:train",
    "chainrule/training/loop.py:fit",
    "chainrule/training/learner.py:step",
    "chainrule/training/torch_learner.py:gradients",
    "chainrule/training/objective.py:forward",
    "chainrule/tasks/language.py:loss",
    "chainrule/parts/heads/_head.py:loss",
]
PACKAGE = Path(chainrule.__file__).parent


def paths(monkeypatch, *words):
    """The functions of the package that lie on the way from the command to each loss, without those seen before."""
    found, real = [], Head.loss

    def noted(self, *given, **more):
        frames = [(Path(frame.filename), frame.name) for frame in traceback.extract_stack()]
        own = [f"chainrule/{path.relative_to(PACKAGE)}:{name}" for path, name in frames if path.is_relative_to(PACKAGE)]
        way = [*own[own.index(PATH[0]):], f"chainrule/{Path(real.__code__.co_filename).relative_to(PACKAGE)}:loss"]
        if way not in found:
            found.append(way)
        return real(self, *given, **more)

    monkeypatch.setattr(Head, "loss", noted)
    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert end.value.code == 0
    return found


def test_nine_functions_lead_from_the_command_to_the_loss(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n" * 30)
    found = paths(monkeypatch, "train", "transformer", "--data", str(tmp_path / "text.txt"), "--out",
                  str(tmp_path / "run"), "tokenizer=bytes", "model.width=8", "model.context=8", "training.batch=4",
                  "training.budget.steps=2", "training.device=cpu")
    steps = [way for way in found if "chainrule/training/learner.py:step" in way]
    assert steps == [PATH], "the way of every step"
    assert len(PATH) <= 9


def test_the_architecture_page_lists_them():
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(chainrule/[\w/]+\.py:\w+)` \|", page, re.MULTILINE) == PATH
