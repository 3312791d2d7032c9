"""Cross-validation: every example is held out once, a killed one continues, and the run knows its folds."""

import json
import subprocess

import pytest
import warm_python

import chainrule
from chainrule.errors import OptionError

TEXTS = [("up", "rise high"), ("down", "fall low"), ("up", "high peak"), ("down", "low pit")] * 10
QUICK = ["training.epochs=5", "model.dimension=8", "training.patience=null", "training.threads=1"]


@pytest.fixture
def data(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"__label__{label} {text}\n" for label, text in TEXTS))
    return tmp_path / "a.txt"


def test_every_fold_is_measured_and_the_run_is_trained_on_all(data, tmp_path):
    report = chainrule.cross_validate("text-classifier", data, tmp_path / "run", folds=4, overrides=QUICK)
    folds = report["folds"]
    assert folds["count"] == 4 and len(folds["accuracy"]["each"]) == 4 and folds["accuracy"]["mean"] == 1.0
    assert folds["accuracy"]["standard_error"] == 0.0
    assert not list(tmp_path.glob(".*folds")), "what the folds left behind"
    found = chainrule.load(tmp_path / "run")
    assert found.report["folds"]["count"] == 4 and found.model.predict(["rise high"])[0][0][0] == "up"


def test_finished_folds_are_not_trained_again(data, tmp_path, monkeypatch):
    from chainrule.verbs import cross_validate as module

    calls, trained = [], module.finish

    def finish(job, *given, **how):
        calls.append(str(job.out.name))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return trained(job, *given, **how)

    monkeypatch.setattr(module, "finish", finish)
    with pytest.raises(KeyboardInterrupt):
        chainrule.cross_validate("text-classifier", data, tmp_path / "run", folds=4, overrides=QUICK)
    calls.clear()
    calls += ["counted"] * 3
    report = chainrule.cross_validate("text-classifier", data, tmp_path / "run", folds=4, overrides=QUICK)
    assert calls[3:] == ["run"] * 3, "two folds and the whole"
    assert len(report["folds"]["accuracy"]["each"]) == 4


def test_the_command_line_says_the_mean_and_its_error(data, tmp_path):
    done = subprocess.run([warm_python.chainrule(), "train", "text-classifier", "--data", str(data),
                           "--folds", "3", "--out", "run", *QUICK], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0 and "3 folds" in done.stdout and "accuracy 1.0000 ± 0.0000" in done.stdout, done.stderr
    assert "fold 3 of 3: accuracy 1.0000" in done.stderr
    assert json.loads((tmp_path / "run" / "report.json").read_text())["folds"]["count"] == 3


def test_a_recipe_that_stops_by_validation_never_sees_the_held_out_fold(data, tmp_path):
    pytest.importorskip("torch")
    report = chainrule.cross_validate("bag-classifier", data, tmp_path / "run", folds=2, overrides=[
        "training.budget.epochs=4", "model.width=8", "training.optimizer.rate=0.05", "training.batch=8"])
    assert report["folds"]["count"] == 2 and report["steps"] > 0


def test_mistakes_are_one_line(data, tmp_path):
    with pytest.raises(OptionError, match="--folds = 1, expected at least 2"):
        chainrule.cross_validate("text-classifier", data, tmp_path / "run", folds=1)
    done = subprocess.run([warm_python.chainrule(), "train", "text-classifier", "--data", str(data),
                           "--valid", str(data), "--folds", "3", "--out", "run"], cwd=tmp_path, text=True,
                          capture_output=True)
    assert done.returncode == 2 and "expected neither --valid nor --from beside it" in done.stderr


def test_the_summary_of_folds_does_not_say_that_nothing_was_validated(data, tmp_path):
    from chainrule.cli.terminal.summary import stepped

    report = chainrule.cross_validate("bag-classifier", data, tmp_path / "run", folds=2, overrides=[
        "model.width=8", "training.budget.steps=1"])
    rows = dict(stepped(report))
    assert rows["validation"] == "by the folds, below" and "best in validation" in rows["kept"]
