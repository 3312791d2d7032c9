"""A budget of seconds ends training, and a large one changes nothing; the clock is a counter, not the machine's."""

import pytest

import chainrule
from chainrule.classifying import learning
from chainrule.errors import UsageError

FAST = ["model.dimension=8", "training.threads=1", "training.epochs=4"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("budget") / "train.txt"
    lines = (f"__label__{'ab'[n % 2]} " + " ".join(f"w{n * k % 97}" for k in range(40)) for n in range(3000))
    path.write_text("\n".join(lines) + "\n")
    return path


def trained(texts, out, *how):
    return chainrule.train("text-classifier", texts, out, overrides=[*FAST, *how], force=True)


class Clock:
    """A second passes with each look."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


def test_a_large_budget_gives_the_same_bytes(texts, tmp_path):
    trained(texts, tmp_path / "without")
    report = trained(texts, tmp_path / "with", "training.budget.seconds=1e9")
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("without", "with"))
    assert one == other and "passes" not in report  # it was not cut short


def test_a_small_budget_ends_training_before_its_passes(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "time", Clock())
    report = trained(texts, tmp_path / "run", "training.budget.seconds=5")
    assert 0 < report["passes"] < 4
    assert chainrule.evaluate(tmp_path / "run", texts)["accuracy"] > 0.4  # a whole model all the same


def test_the_step_falls_to_zero_with_the_time_where_the_passes_do_not_fit(texts, tmp_path, monkeypatch):
    seen = []
    own = learning._SharedTraining._keep_to_budget

    def watched(self):
        own(self)
        seen.append(self.progress.share)

    monkeypatch.setattr(learning, "time", Clock())
    monkeypatch.setattr(learning._SharedTraining, "_keep_to_budget", watched)
    trained(texts, tmp_path / "run", "training.budget.seconds=8")
    assert seen[-2] == pytest.approx(7 / 8, abs=0.01)  # the share of the budget that is spent, in one piece of the text


@pytest.mark.parametrize("seconds", ["0", "-1", ".inf"])
def test_a_budget_that_is_none_is_refused(texts, tmp_path, seconds):
    with pytest.raises(UsageError, match="training.budget.seconds"):
        trained(texts, tmp_path / "run", f"training.budget.seconds={seconds}")
