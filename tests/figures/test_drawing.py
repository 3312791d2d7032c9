"""Figures are well-formed SVG on their own, whatever text is in them."""

from xml.etree import ElementTree

import pytest

from chainrule.figures.bars import grouped_bars, lying_bars
from chainrule.figures.colored_text import COLUMNS, colored_text
from chainrule.figures.drawing import Figure, mixed, plain, stacked
from chainrule.figures.heat import heat_map, small_maps
from chainrule.figures.intervals import Measured, intervals, shown_range
from chainrule.figures.scatter import Points, scatter

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script>&\x00\x1b[2J\ud800\uffff\""


def texts(figure):
    tree = ElementTree.fromstring(figure.svg().encode())
    assert not list(tree.iter(f"{SVG}script"))
    return [node.text for node in tree.iter(f"{SVG}text")]


@pytest.mark.parametrize("figure", [
    heat_map(EVIL, [[0.1, None], [1.0, 0.5]], [EVIL, "b"], numbers=True),
    small_maps(EVIL, {EVIL: {"head 0": ([[1.0, 0.0], [0.5, 0.5]], 1.0)}}),
    lying_bars(EVIL, EVIL, {EVIL: 3.0, "none": 0.0}, log=True),
    grouped_bars(EVIL, [EVIL, "b"], {EVIL: [1.0, None], "c": [2.0, 0.5]}, x_label="x", y_label="y", below=[EVIL, ""]),
    colored_text(EVIL, EVIL, [(EVIL, "#cf6a1c", 0.5)], {EVIL: "#0072b2"}),
    intervals(EVIL, EVIL, [Measured(EVIL, 1.0, 0.9, 1.1, "#0072b2")]),
    scatter(EVIL, EVIL, Points([[0, 0], [1, 1]], [EVIL, "b"], [0, -1], [EVIL])),
], ids=["heat", "maps", "lying", "grouped", "text", "intervals", "scatter"])
def test_any_text_is_only_text(figure):
    assert any("<script>" in (text or "") for text in texts(figure))


def test_a_color_on_paper_is_written_out():
    assert mixed("#000000", 0) == "#ffffff" and mixed("#000000", 1) == "#000000" and mixed("#ff0000", 0.5) == "#ff8080"


def test_what_xml_cannot_hold_is_a_sign():
    assert plain("\x1b\x00\x7f\ufffe<") == "␛␀␡\ufffd&lt;" and plain("\ud800") == "?"


def test_figures_below_each_other_do_not_overlap():
    both = stacked([Figure("a", 100, 40, ""), Figure("b", 200, 60, "")], "both")
    assert both.width == 200 and both.height >= 100 and 'translate(0 64)' in both.body


def test_a_long_line_of_text_goes_on_in_the_next():
    def rows(figure):
        return {float(node.get("y")) for node in ElementTree.fromstring(figure.svg()).iter(f"{SVG}text")
                if node.get("textLength")}
    assert len(rows(colored_text("t", "c", [("a" * (2 * COLUMNS + 5), "#cf6a1c", 0.5)]))) == 3
    assert len(rows(colored_text("t", "c", [("word ", "#cf6a1c", 0.5)] * 40))) == -(-200 // (COLUMNS // 5 * 5))
    assert len(rows(colored_text("t", "c", [("a\nb\n\nc", "#cf6a1c", 0.5)]))) == 4


def test_a_far_compressor_is_beyond_the_cut_and_said():
    models = [Measured("ngram", 1.9, 1.8, 2.0, "#0072b2"), Measured("lstm", 2.1, 2.0, 2.2, "#d55e00")]
    near, far = Measured("xz", 2.3, None, None, "#9a9da3", True), Measured("zlib", 4.6, None, None, "#9a9da3", True)
    assert shown_range([*models, near, far]) == (1.8, 2.3)
    assert any("zlib lies beyond it" in text for text in texts(intervals("t", "bits", [*models, near, far])))
    assert not any("beyond" in text for text in texts(intervals("t", "bits", [*models, near])))
    assert shown_range([far]) == (4.6, 4.6), "alone it is what is shown"


def test_a_name_that_would_cover_another_is_left_out():
    names = ["first", "second", "third"]
    shown = texts(scatter("t", "c", Points([[0, 0], [0.001, 0], [5, 5]], names, first=[1, 0, 2])))
    assert "second" in shown and "third" in shown and "first" not in shown
    assert "first" in texts(scatter("t", "c", Points([[0, 0], [0.001, 0]], ["first", "second"], strong=[0])))
