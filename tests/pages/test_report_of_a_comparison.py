"""A comparison that was really made, opened in a real browser: what compare gives is what the page draws."""

import json

import pytest

from chainrule.experiments.compare import compare
from chainrule.experiments.terms import Terms

TEXT = "".join(f"The {'quick' if n % 3 else 'slow'} fox {n % 17} jumps over dog {n % 5}.\n\n" for n in range(600))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("comparison")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    compare(["ngram-bytes", "model.order=5", "ngram-bytes", "model.order=2", "ngram-bytes",
             "model.smoothing=maximum_likelihood"], [str(place / "text.txt")], place / "report", budget="5s")
    return place / "report"


def test_every_row_and_every_section_is_there(look, folder):
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    page = look(folder / "report.html")
    rows = page.locator("#rows tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.row)")
    told = {row["name"]: row for row in report["rows"]}
    assert sorted(rows) == sorted(told)
    failed = told["ngram-bytes smoothing=maximum_likelihood"]
    assert failed["status"] == "failed" and page.locator("tr.failed .why").count() == 1
    assert report["data"]["held_out_piece"] == "line"
    assert f"{report['data']['held_out_pieces']} lines" in page.locator("dl.facts").inner_text()
    best = page.locator("tr.best")
    assert best.get_attribute("data-row") == report["best"]
    assert f"{told[report['best']]['bits_per_byte']:.3f}" in best.inner_text()
    sections = page.locator("section").evaluate_all("all => all.map((each) => each.id)")
    assert sections[:5] == ["rows", "differences", "curves", "breakdowns", "wins"] and "samples" in sections


def test_models_ranked_by_perplexity_have_a_best_and_their_intervals(look, tmp_path):
    (tmp_path / "text.txt").write_text("".join(f"道可道{chr(0x4E00 + 7 * n)}非常道{n % 9}\n" for n in range(500)),
                                       encoding="utf-8")
    report = compare(["ngram", "ngram", "model.order=1"], [str(tmp_path / "text.txt")], tmp_path / "report",
                     terms=Terms(tokenizer="characters"))
    page = look(tmp_path / "report" / "report.html")
    best = page.locator("tr.best")
    assert report["ranked_by"] == "perplexity" and best.get_attribute("data-row") == report["best"]
    low, high = next(row for row in report["rows"] if row["name"] == report["best"])["perplexity_interval"]
    assert f"95 % interval {low:.1f} to {high:.1f}" in " ".join(best.inner_text().split())
    assert "report/best" in page.locator(".again").inner_text()


def test_models_that_do_not_compare_offer_no_best(look, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    report = compare(["ngram", "tokenizer.size=9", "ngram", "tokenizer.size=11"], [str(tmp_path / "text.txt")],
                     tmp_path / "report", terms=Terms(tokenizer="own"))
    page = look(tmp_path / "report" / "report.html")
    assert report["best"] is None and not (tmp_path / "report" / "best").exists()
    assert "report/best" not in page.locator("body").inner_text() and page.locator("tr.best").count() == 0


def test_a_token_has_the_guesses_of_each_model(look, folder):
    details = json.loads((folder / "details.json").read_text(encoding="utf-8"))
    page = look(folder / "report.html")
    page.locator(".colored span").nth(3).hover()
    page.locator("aside.token .guess").nth(1).wait_for()
    segment = details["text"]["documents"][0]["segments"][3]
    shown = page.locator("aside.token .bits .number").all_inner_texts()
    assert sorted(map(float, shown)) == pytest.approx(sorted(segment["bits"]), abs=0.006)
    assert page.locator("aside.token .guess").first.locator("li").count() == 5
