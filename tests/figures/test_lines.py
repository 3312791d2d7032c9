"""Charts are well-formed SVG that shows every line, and only what can be shown."""

import math
import re
from xml.etree import ElementTree

import pytest

from chainrule.figures.lines import Chart, Line, chart

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*lines, log=False):
    text = chart(Chart("title", "time", "norm", lines, log=log)).svg()
    tree = ElementTree.fromstring(text)
    paths = [node.get("d") for node in tree.iter(f"{SVG}path") if node.get("stroke-width") == "1.8"]
    return [node.text for node in tree.iter(f"{SVG}text")], paths


def points(path):
    return [tuple(map(float, pair.split())) for pair in re.findall(r"[ML]([\d.]+ [\d.]+)", path)]


def test_labels_title_and_ticks_are_written():
    texts, _ = drawn(Line("an <lstm> & more", [0, 10], [1, 5]))
    assert {"title", "time", "norm", "an <lstm> & more", "0", "10", "5"} <= set(texts)


def test_an_axis_of_integers_has_no_ticks_between_them():
    texts, _ = drawn(Line("by layer", [0, 1], [0.4, 0.5]))
    assert {"0", "1"} <= set(texts) and "0.2" not in texts


def test_equal_factors_are_equally_far_apart_on_a_log_axis():
    _, (path,) = drawn(Line("a", [0, 1, 2], [1e-6, 1e-3, 1.0]), log=True)
    (_, low), (_, middle), (_, high) = points(path)
    assert low > middle > high and middle == pytest.approx((low + high) / 2, abs=0.2)


def test_a_line_is_broken_where_a_value_cannot_be_shown():
    _, (path,) = drawn(Line("a", range(6), [1.0, 2.0, 0.0, math.nan, 3.0, math.inf]), log=True)
    assert path.count("M") == 2 and len(points(path)) == 3


@pytest.mark.parametrize("y", [[0.0, 0.0], [3.0, 3.0], [math.nan], []])
@pytest.mark.parametrize("log", [False, True])
def test_lines_without_a_range_are_drawn_all_the_same(y, log):
    texts, paths = drawn(Line("flat", range(len(y)), y), log=log)
    assert len(paths) == 1 and "flat" in texts


def test_many_lines_look_different_or_are_left_out_of_the_legend():
    texts, paths = drawn(*(Line(f"line {n}", [0, 1], [n, n]) for n in range(40)))
    assert len(paths) == 40 and "line 12" in texts and "line 30" not in texts and "…" in texts


def test_long_names_that_differ_at_their_end_stay_different():
    texts, _ = drawn(*(Line(f"rnn r.recurrent=uniform r.gain={gain} model.width=64 layers={gain}", [0, 1], [gain, 1])
                       for gain in (3, 6)))
    names = [text for text in texts if text.startswith("rnn")]
    assert len(set(names)) == 2 and all(len(name) == 28 and "…" in name for name in names)


def test_intervals_stand_beside_each_other_and_inside_the_frame():
    lines = [Line(name, [2, 4], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5]) for name in ("a", "b")]
    text = chart(Chart("t", "x", "y", lines, at_values=True)).svg()
    whiskers = [re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", node.get("d")) for node in
                ElementTree.fromstring(text).iter(f"{SVG}path") if node.get("opacity")]
    (a, low, _), (b, _, high) = whiskers[0][0], whiskers[1][1]
    assert len(whiskers) == 2 and float(b) != float(a) and 36 < float(high) < float(low) < 292
    assert float(whiskers[1][0][0]) - float(a) == 5
