"""Training shows its progress in a notebook: one display that is updated, and nothing elsewhere."""

import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest

import chainrule
from chainrule import progress
from chainrule.progress import in_notebook, measured, notebook_progress


@pytest.fixture
def shown(monkeypatch):
    """What an IPython kernel is asked to display; a real one was tried by hand."""
    calls = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.display = lambda data, **how: calls.append((data, how))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    return calls


def test_without_a_kernel_nothing_is_shown_or_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook() and "IPython" not in sys.modules
    with notebook_progress(None) as show:
        assert show is None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook(), "imported, but not running"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not in_notebook(), "a terminal's IPython has no kernel"


def test_training_updates_one_display(shown, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n" * 40)
    chainrule.train("engine-rnn", tmp_path / "text.txt", tmp_path / "run", overrides=[
        "model.width=8", "tokenizer=bytes", "model.context=16", "training.budget.steps=4"])
    ids = {how["display_id"] for _, how in shown}
    assert len(ids) == 1 and [how.get("update", False) for _, how in shown] == [False] + [True] * (len(shown) - 1)
    texts = [data["text/plain"] for data, _ in shown]
    assert texts[0] == "starting" and any(text.startswith("training: step ") for text in texts)
    assert texts[-1].startswith("done after ") and "loss" in texts[-1] and "left" not in texts[-1]
    assert all(data["text/html"].startswith("<progress") for data, _ in shown)


def test_a_failure_is_shown_and_everything_is_put_back(shown):
    log = logging.getLogger("chainrule.steps")
    before = log.level, log.propagate, list(log.handlers)
    with pytest.raises(ValueError, match="broken"), notebook_progress(None):
        log.debug("reading <b>")
        raise ValueError("broken")
    assert [data["text/plain"].split(" after")[0] for data, _ in shown] == ["starting", "reading <b>", "failed"]
    assert "&lt;b&gt;" in shown[1][0]["text/html"]
    assert (log.level, log.propagate, list(log.handlers)) == before


def test_a_function_of_ones_own_is_called_instead(shown):
    with notebook_progress(shown.append) as show:
        assert show == shown.append
    assert not shown


def test_facts_are_words_as_far_as_there_are_some():
    assert measured({"step": 1200, "loss": 2.3456, "seconds_left": None}) == "step 1,200, loss 2.346"
