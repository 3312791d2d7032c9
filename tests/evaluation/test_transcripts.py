"""Transcripts beside their references: error rates, intervals, and the worst of them."""

import numpy as np
import pytest

from chainrule.evaluation.options import Measuring
from chainrule.evaluation.transcripts import transcript_figures
from chainrule.inputs.labeled import Example

TRUE = ["one two three", "four", "five  six", "seven eight nine zero"]
SAID = ["one two three", "for", "five six six", "seven nine zero"]


def figures(**how):
    examples = [Example(b"a.wav", (text,), "t.csv", n + 2) for n, text in enumerate(TRUE)]
    return transcript_figures(examples, SAID, Measuring(**how))


def test_error_rates_count_words_and_characters():
    found = figures()
    assert found["recordings"] == 4 and found["words"] == 10 and found["wer"] == pytest.approx(3 / 10)
    assert [found[name] for name in ("substitutions", "deletions", "insertions")] == [1, 1, 1]
    assert found["without_errors"] == 0.25
    jiwer = pytest.importorskip("jiwer")
    assert found["wer"] == pytest.approx(jiwer.wer(TRUE, SAID))
    assert found["cer"] == pytest.approx(jiwer.cer([" ".join(each.split()) for each in TRUE], SAID))


def test_intervals_hold_the_rates_and_are_left_out_if_not_asked_for():
    for name in ("wer", "cer"):
        low, high = figures()["interval"][name]
        assert 0 <= low < figures()[name] < high
    assert figures(bootstrap=0)["interval"] == {}
    assert np.isfinite(figures(bootstrap=0)["wer"])


def test_the_worst_transcripts_are_named_with_their_row():
    worst = figures()["most_wrong"]
    assert len(worst) == 3 and worst[0] == {"source": "t.csv", "line": 3, "errors": 1, "text": "four", "heard": "for"}
