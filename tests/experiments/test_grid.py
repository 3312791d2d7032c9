"""What a grid varied, and the figures of a report: every number of a figure is one of the report's rows."""

import json
from xml.etree import ElementTree

import pytest

from chainrule.experiments.compare import compare
from chainrule.experiments.contestants import contestants
from chainrule.experiments.grid import grid_of
from chainrule.experiments.pictures import pictures
from chainrule.experiments.terms import Terms

SVG = "{http://www.w3.org/2000/svg}"


def texts(path):
    return [node.text for node in ElementTree.parse(path).iter(f"{SVG}text")]


def test_each_option_has_a_line_for_each_recipe_and_each_value_of_the_others():
    grid = ["model.order=2,3", "model.smoothing=witten_bell,kneser_ney"]
    entries = contestants(["ngram", "ngram-bytes"], grid)
    order, smoothing = grid_of(entries, grid)
    assert order["option"] == "model.order" and order["values"] == ["2", "3"]
    assert [line["name"] for line in order["lines"]] == [
        "ngram smoothing=witten_bell", "ngram smoothing=kneser_ney", "ngram-bytes smoothing=witten_bell",
        "ngram-bytes smoothing=kneser_ney"]
    assert order["lines"][0]["points"] == [{"value": "2", "row": "ngram order=2 smoothing=witten_bell"},
                                           {"value": "3", "row": "ngram order=3 smoothing=witten_bell"}]
    assert [line["name"] for line in smoothing["lines"]][:2] == ["ngram order=2", "ngram order=3"]
    assert {point["row"] for line in smoothing["lines"] for point in line["points"]} == {each.name for each in entries}
    assert grid_of(contestants(["ngram"]), ()) == []


@pytest.fixture(scope="module")
def compared(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("grid") / "report"
    return out, compare(["ngram-bytes"], corpus, out, budget="5s", terms=Terms(grid=["model.order=2,3,6"]))


def test_a_report_has_its_figures_as_files(compared):
    out, report = compared
    details = json.loads((out / "details.json").read_text())
    names = {path.stem for path in (out / "figures").glob("*.svg")}
    assert names == set(pictures(report, details))
    assert names >= {"intervals", "grid-model.order", "curves-seconds", "by-frequency"}
    shown = texts(out / "figures" / "intervals.svg")
    for row in report["rows"]:
        assert row["bits_per_byte"] is None or any(text.startswith(f"{row['bits_per_byte']:.3f}") for text in shown)
    assert {"2", "3", "6", "model.order", "ngram-bytes"} <= set(texts(out / "figures" / "grid-model.order.svg"))


def test_points_of_the_grid_lie_where_their_numbers_are(compared):
    out, report = compared
    tree = ElementTree.parse(out / "figures" / "grid-model.order.svg")
    line = next(node.get("d") for node in tree.iter(f"{SVG}path") if node.get("stroke-width") == "1.8")
    heights = [float(place.split()[1]) for place in line.split("m")[0].partition("M")[2].split("M")[0].split("L")]
    bits = [next(row["bits_per_byte"] for row in report["rows"] if row["name"] == f"ngram-bytes order={order}")
            for order in (2, 3, 6)]
    assert (heights[1] - heights[0]) / (heights[2] - heights[0]) == pytest.approx(
        (bits[1] - bits[0]) / (bits[2] - bits[0]), abs=0.02)


def test_a_notebook_shows_the_table_and_the_intervals(compared):
    _, report = compared
    shown = report._repr_html_()
    assert "ngram-bytes order=6" in shown and shown.count("<svg") == 1 and "<script" not in shown
    assert json.loads(json.dumps(report)) == report
