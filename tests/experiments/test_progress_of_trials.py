"""What is said before trials run and while they do: the whole time first, then a few short lines."""

import pytest

from chainrule.experiments import progress
from chainrule.experiments.progress import LogLines, duration, forecast, spent
from chainrule.training.plan import Budget


@pytest.mark.parametrize(("trained", "counted", "budget", "words"), [
    (6, [], Budget(seconds=300), "6 trainings of 5 min each, 30 min in all; then an evaluation of each on 9,000 "),
    (1, ["ngram"], Budget(seconds=90),
     "1 training of 90 s; ngram: as the recipe says, whatever the budget; then an evaluation of each on 9,000 bytes."),
    (2, [], Budget(tokens=2e6), "2 trainings of 2e+06 tokens each, 4e+06 tokens in all; then"),
    (0, ["a", "b"], Budget(seconds=60), "a, b: as the recipe says, whatever the budget; then an evaluation of each on"),
])
def test_the_whole_time_is_said_before_the_first_training(trained, counted, budget, words):
    assert forecast(trained, counted, budget, "9,000 bytes").startswith(words)


def test_durations_are_in_units_that_one_reads():
    assert [duration(each) for each in (0.5, 90, 120, 5400, 7200)] == ["0.5 s", "90 s", "2 min", "1 h 30 min", "2 h"]


def test_a_log_file_has_a_line_for_each_quarter_that_takes_long(caplog, monkeypatch):
    caplog.set_level("INFO", "chainrule")
    clock = iter(range(0, 10_000, 6))  # two reports are 12 seconds
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    lines, budget = LogLines(), Budget(seconds=240)
    lines.started("[1/2] lstm")
    for share in range(1, 41):
        lines.came("[1/2] lstm", {"progress": share / 40},
                   spent({"step": 1, "progress": share / 40, "bits_per_byte": 2.5}, budget))
    lines.measuring("[1/2] lstm")
    lines.ended("[1/2] lstm", None)
    assert [record.message for record in caplog.records] == ["[1/2] lstm: started.", *(
        f"[1/2] lstm: {60 * n} s of 240 s, 2.50 bits per byte of the text trained on" for n in (1, 2, 3, 4))]
    lines.ended("[1/2] lstm", "out of memory.")
    assert caplog.records[-1].message == "[1/2] lstm: failed: out of memory."


def test_quick_trials_have_one_line(caplog):
    caplog.set_level("INFO", "chainrule")
    lines = LogLines()
    lines.started("[1/1] ngram")
    lines.came("[1/1] ngram", {"progress": 0.9}, "")
    lines.ended("[1/1] ngram", None)
    assert [record.message for record in caplog.records] == ["[1/1] ngram: started."]
