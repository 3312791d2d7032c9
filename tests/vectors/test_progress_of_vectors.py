"""Progress of training vectors is shown, also when nothing is done yet."""

import pytest

from chainrule.vectors import training_options


@pytest.fixture
def recorded(monkeypatch):
    """What was said by a progress of 100 words, on a clock that goes on by a second at each look."""
    clock, said = iter(range(1000)), []
    monkeypatch.setattr(training_options.time, "perf_counter", lambda: float(next(clock)))
    return training_options.Progress(training_options.TrainingOptions(show=said.append), 100), said


def test_pieces_without_a_word_are_no_division_by_zero(recorded):
    progress, said = recorded
    progress.add(0)
    assert said == []
    progress.add(50)
    assert said == [{"progress": 0.5, "words_per_second": 25.0, "seconds_left": 2.0}]


def test_more_words_than_expected_leave_zero_seconds(recorded):
    progress, said = recorded
    progress.add(200)
    assert said[-1]["progress"] == 1.0
    assert said[-1]["seconds_left"] == 0.0
