"""A comparison that was really made, opened in a real browser: what compare gives is what the page draws."""

import json

import pytest

from chainrule.experiments.compare import compare

TEXT = "".join(f"The {'quick' if n % 3 else 'slow'} fox {n % 17} jumps over dog {n % 5}.\n\n" for n in range(600))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("comparison")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    (place / "broken.yaml").write_text("family: ngram\nmodel: {ordr: 3}\n", encoding="utf-8")
    compare(["ngram-bytes", "model.order=5", "ngram-bytes", "model.order=2", str(place / "broken.yaml")],
            [str(place / "text.txt")], place / "report", budget="5s")
    return place / "report"


def test_every_row_and_every_section_is_there(look, folder):
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    page = look(folder / "report.html")
    rows = page.locator("#rows tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.row)")
    told = {row["name"]: row for row in report["rows"]}
    assert sorted(rows) == sorted(told)
    assert told["broken"]["status"] == "failed" and page.locator("tr.failed .why").count() == 1
    best = page.locator("tr.best")
    assert best.get_attribute("data-row") == report["best"]
    assert f"{told[report['best']]['bits_per_byte']:.3f}" in best.inner_text()
    sections = page.locator("section").evaluate_all("all => all.map((each) => each.id)")
    assert sections[:5] == ["rows", "differences", "curves", "breakdowns", "wins"] and "samples" in sections


def test_a_token_has_the_guesses_of_each_model(look, folder):
    details = json.loads((folder / "details.json").read_text(encoding="utf-8"))
    page = look(folder / "report.html")
    page.locator(".colored span").nth(3).hover()
    page.locator("aside.token .guess").nth(1).wait_for()
    segment = details["text"]["documents"][0]["segments"][3]
    shown = page.locator("aside.token .bits .number").all_inner_texts()
    assert sorted(map(float, shown)) == pytest.approx(sorted(segment["bits"]), abs=0.006)
    assert page.locator("aside.token .guess").first.locator("li").count() == 5
