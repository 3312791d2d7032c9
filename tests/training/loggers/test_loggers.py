"""Loggers get the rows of metrics.jsonl, whichever family trains; one that fails does not end the training."""

import json
import sys

import plugins
import pytest
from small import TRANSFORMER, planned, silent, train

import chainrule
from chainrule.cli.app import main
from chainrule.errors import UsageError
from chainrule.recipe.recipe import load_recipe
from chainrule.training.callbacks import Callbacks

LINES = '''
"""Rows in a file."""

import json

from chainrule.recipe.registry import part


@part
class Lines:
    """Writes every row into a file."""

    def __init__(self, session, *, fails_at: int = -1):
        session.folder.mkdir(parents=True, exist_ok=True)
        self.file, self.fails_at = open(session.folder / "lines.jsonl", "a"), fails_at
        self.file.write(json.dumps([session.name, session.step, session.recipe.get("family")]) + "\\n")

    def row(self, step, numbers):
        if step == self.fails_at:
            raise ConnectionError("no route to host")
        self.file.write(json.dumps({"step": step, **numbers}) + "\\n")

    def close(self):
        self.file.close()
'''


@pytest.fixture
def lines(tmp_path):
    with plugins.part(tmp_path / "own", "loggers", "lines", LINES):
        yield


@pytest.mark.parametrize("recipe", ["transformer", "engine-lstm"])
def test_a_logger_of_ones_own_gets_every_number_of_the_metrics(recipe, lines, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"line {i} of a text with {i % 7} words or {i % 11}\n" for i in range(200)))
    chainrule.train(recipe, text, tmp_path / "run", overrides=[
        "training.loggers=lines", "training.budget.steps=3", "training.log_every=1", "model.width=8",
        "model.context=8"])
    told, *rows = map(json.loads, (tmp_path / "run" / "logs" / "lines.jsonl").read_text().splitlines())
    metrics = map(json.loads, (tmp_path / "run" / "metrics.jsonl").read_text().splitlines())
    assert told == ["run", 0, load_recipe(recipe).family]
    assert rows == [{name: value for name, value in row.items() if isinstance(value, int | float)
                     and name not in ("tokens", "flops")} for row in metrics]


def test_a_logger_that_fails_is_named_once_and_training_goes_on(lines, tmp_path):
    said = []
    plan = planned(loggers=({"name": "lines", "fails_at": 6},))
    _, fitted = train(TRANSFORMER, plan, tmp_path / "w", callbacks=Callbacks(said.append))
    assert [each for each in said if "Lines failed" in each] == [
        "Lines failed, and gets no more rows: ConnectionError: no route to host"]
    assert fitted.metrics == train(TRANSFORMER, planned(), tmp_path / "x", callbacks=Callbacks(silent))[1].metrics


def test_loggers_may_change_when_a_training_is_resumed(lines, tmp_path):
    train(TRANSFORMER, planned(), tmp_path / "w")
    train(TRANSFORMER, planned(loggers=("lines",)), tmp_path / "w")
    told = json.loads((tmp_path / "w" / "logs" / "lines.jsonl").read_text().splitlines()[0])
    assert told[:2] == ["w", planned().budget.steps]


def test_a_missing_package_and_an_unknown_logger_are_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UsageError, match=r"^training.loggers = 'wandb' needs the package wandb .*pip install wandb$"):
        train(TRANSFORMER, planned(loggers=("wandb",)), tmp_path / "w")
    with pytest.raises(SystemExit) as end:
        main(["recipes", "transformer", "training.loggers=tensorbord"])
    assert end.value.code == 2
    assert "no logger named 'tensorbord'. Did you mean 'tensorboard'?" in capsys.readouterr().err
