"""The report of a comparison in a real browser: it draws, answers pointer and keyboard, prints, asks for nothing."""

import re

import pytest
from small_report import EVIL, MODELS, details, report, row

from chainrule.pages.page import write_page


@pytest.fixture
def path(tmp_path):
    return written(tmp_path, report(), details())


def written(folder, told, more):
    write_page(folder / "report.html", view="report", title="Which model for pydoc?",
               data={"report": told, "details": more})
    return folder / "report.html"


def expect(locator):
    """Playwright's own, which waits until the page has drawn; imported late, since it may be missing."""
    from playwright.sync_api import expect

    return expect(locator)


def expect_order(page, names):
    expect(page.locator("#rows tbody .name > span:nth-child(2)")).to_have_text(names)


def test_the_answer_and_the_facts_stand_at_the_top(look, path):
    page = look(path)
    assert page.title() == page.locator("h1").inner_text() == "Which model for pydoc?"
    assert page.locator("#advice p").inner_text() == f"Take ngram. {EVIL}"
    facts = page.locator(".facts").inner_text().replace("\xa0", " ")
    assert all(text in facts for text in ("pydoc", "65 kB", "9 documents", "1 min", "byte pair, 2,048", "2 cores"))
    assert "chainrule compare ngram lstm" in page.locator(".head .command").inner_text()


def test_hostile_text_is_only_text(look, path):
    page = look(path)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert EVIL in page.locator(".colored").inner_text()


def test_a_command_is_copied(look, path):
    page = look(path)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".head .copy").first.click()
    page.locator(".head .copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == report()["command"]


def test_the_table_sorts_by_any_column_and_keeps_what_is_missing_last(look, path):
    page = look(path)
    expect_order(page, ["mixture", "ngram", "lstm", "transformer", "xz", "words", "gated-conv"])
    page.get_by_role("button", name="Model").click()
    expect_order(page, ["gated-conv", "lstm", "mixture", "ngram", "transformer", "words", "xz"])
    page.get_by_role("button", name="Bits per byte").click()
    page.get_by_role("button", name="Bits per byte").click()
    expect_order(page, ["xz", "transformer", "lstm", "ngram", "mixture", "words", "gated-conv"])
    expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("Bits per byte"))


def test_rows_say_what_they_are(look, path):
    page = look(path)
    names = ("ngram", "words", "gated-conv", "xz", "mixture")
    text = {name: page.locator(f"tr[data-row={name}]").inner_text() for name in names}
    assert "Failed. training.batch = 9999 needs 31 GB." in text["gated-conv"]
    assert "not comparable" in text["words"] and "1.2" not in text["words"] and "294" in text["words"]
    assert "best" in text["ngram"] and "compressor" in text["xz"] and "mixture" in text["mixture"]
    assert "50 % ngram, 30 % lstm, 20 % transformer" in page.locator("#rows").inner_text()
    assert page.locator("tr[data-row=lstm] svg").get_attribute("aria-label") == "1.940 to 2.140"


def test_significant_differences_are_marked(look, path):
    page = look(path)
    cell = page.locator(".differences tbody tr").nth(0).locator("td")
    assert cell.nth(1).inner_text().startswith("−0.12") and "better" in cell.nth(1).get_attribute("class")
    assert page.locator(".differences .even").count() == 2
    assert "95 % interval −0.200 to −0.040" in cell.nth(1).get_attribute("title")


def test_the_curves_switch_their_axis_and_show_what_is_under_the_pointer(look, path):
    page = look(path)
    chart = page.locator("#curves .canvas")
    seen = [chart.screenshot()]
    for name, text in (("Tokens", "K"), ("FLOPs", "×10¹¹"), ("Linear", "×10¹¹")):
        page.locator("#curves").get_by_role("radio", name=name).click()
        chart.hover(position={"x": 400, "y": 120})
        expect(page.locator("#curves .readout")).to_contain_text(text)
        page.mouse.move(0, 0)
        expect(page.locator("#curves .readout")).to_have_count(0)
        seen.append(chart.screenshot())
    assert len(set(seen)) == 4
    page.locator("#curves .legend button", has_text="lstm").click()
    expect(page.locator("#curves .legend button[aria-pressed=false]")).to_have_text("lstm")
    page.locator("#curves summary").click()
    expect(page.locator("#curves tbody tr")).to_have_count(21)


def test_a_switch_obeys_the_arrow_keys(look, path):
    page = look(path)
    page.locator("#curves").get_by_role("radio", name="Time").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#curves [aria-checked=true]").first).to_have_text("Tokens")


def test_pointing_at_a_token_shows_bits_and_five_guesses_of_each_model(look, path):
    page = look(path)
    page.locator(".colored span").nth(1).hover()
    panel = page.locator("aside.token")
    expect(panel.locator("h3")).to_have_text("␣assert")
    assert [guess.locator("li").count() for guess in panel.locator(".guess").all()] == [5] * len(MODELS)
    assert panel.locator(".guess .bits").all_inner_texts()[0].split() == ["ngram", "2.00"]
    assert panel.locator("li.right").first.inner_text().split() == ["␣assert", "50", "%"]


def test_the_keyboard_goes_from_token_to_token(look, path):
    page = look(path)
    page.locator(".colored").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator("aside.token h3")).to_have_text("␣statement")
    page.keyboard.press("Home")
    expect(page.locator("aside.token h3")).to_have_text("The")


def test_two_models_are_compared(look, path):
    page = look(path)
    look_of = "span => span.style.background"
    everyone = page.locator(".colored span").evaluate_all(f"all => all.map({look_of})")
    page.get_by_label("Compare").select_option("lstm")
    page.get_by_label("with", exact=True).select_option("transformer")
    expect(page.locator(".shares li")).to_have_text([re.compile("lstm is best"), re.compile("transformer is best")])
    two = page.locator(".colored span").evaluate_all(f"all => all.map({look_of})")
    assert "--series-0" in everyone[0] and "--series-0" not in "".join(two)
    page.get_by_label("Document", exact=True).select_option("1")
    expect(page.locator(".colored span")).to_have_count(2)


def test_samples_and_recipes_are_there(look, path):
    page = look(path)
    assert page.locator("#samples article").count() == 3
    page.locator("#recipes summary", has_text="lstm").click()
    expect(page.locator("#recipes details[open] pre")).to_have_text("family: lstm")


def test_it_prints_without_controls_and_on_white(look, path):
    page = look(path, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    printed = page.pdf(format="A4", print_background=True)
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") >= 2
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".controls").first.is_visible() and not page.locator("aside.token").is_visible()
    assert page.locator("#rows table").is_visible() and page.locator("#curves canvas").is_visible()


def test_nothing_is_wider_than_a_phone(look, path):
    page = look(path, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("documents", [1, 1000])
def test_any_number_of_documents_is_drawn(look, tmp_path, documents):
    page = look(written(tmp_path, report(), details(documents)))
    figure = page.locator("figure", has_text="By document")
    assert figure.locator("canvas, svg.bars").count() == 1
    figure.locator("summary").click()
    expect(figure.locator("tbody tr")).to_have_count(documents)


def test_a_comparison_in_which_everything_failed_is_still_a_page(look, tmp_path):
    told = report() | {"rows": [{"name": "lstm", "kind": "model", "status": "failed", "why": "No memory."}],
                       "pairs": [], "advice": [], "notes": [], "best": None}
    page = look(written(tmp_path, told, {}))
    assert "Failed. No memory." in page.locator("#rows").inner_text()
    assert page.locator("section").count() == 1


def test_the_bundle_is_small(bundle):
    assert sum((bundle / name).stat().st_size for name in ("page.js", "page.css")) < 300_000


def test_more_models_than_colors_look_different(look, tmp_path):
    """20 models: no two share a dot, a whisker, a line of a legend, a bar or the underline of what they won."""
    names = [f"model {n}" for n in range(20)]
    more = details()
    more["curves"] = dict.fromkeys(names, more["curves"]["lstm"])
    more["by_frequency"]["values"] = dict.fromkeys(names, [3.5, 2.5, 1.5])
    segments = [{"text": f" {name}", "bits": [1.0 if n == m else 9.0 for n in range(20)]} for m, name in
                enumerate(names)]
    more["text"] = {"models": names, "documents": [{"title": "won by each", "segments": segments}]}
    page = look(written(tmp_path, report() | {"rows": [row(name, 2.0) for name in names], "pairs": []}, more))
    page.locator(".colored span").first.wait_for()

    def different(selector, what):
        return len(set(page.locator(selector).evaluate_all(f"all => all.map(each => {what})")))

    style = "each.getAttribute('style')"
    assert different("#rows tbody .name .dot", style) == 20
    assert different("#rows tbody .whisker", "each.style.color + each.lastElementChild.previousElementSibling.outerHTML"
                     ".replace(/c?[xy]=\"[^\"]*\"/g, '')") == 20
    assert different("#curves .legend line", style) == 20
    assert different(".bars rect", style) == 20
    assert different(".share-bar span", "each.style.background") == 20
    assert different(".colored span", style) == 20


def test_a_far_compressor_does_not_stretch_the_axis_and_the_page_says_so(look, tmp_path):
    told = report()
    told["rows"] = [*told["rows"], {"name": "zlib", "kind": "compressor", "status": "ok", "bits_per_byte": 7.6,
                                    "interval": None}]
    page = look(written(tmp_path, told, details()))
    expect(page.locator("#cut")).to_have_text("The axis of intervals is cut, so that intervals can be seen: zlib lies "
                                              "beyond it, at the arrow.")
    assert page.locator("[data-row=zlib] .whisker .beyond").count() == 1
    assert page.locator("[data-row=xz] .whisker circle").count() == 1, "a near one is shown"
    reach = page.locator("[data-row=lstm] .reach").bounding_box()
    assert reach["width"] > 20, "an interval can be seen"
    assert look(written(tmp_path, report(), details())).locator("#cut").count() == 0


def test_a_path_is_broken_only_after_its_slashes(look, tmp_path):
    told = report()
    told["data"]["spec"] = ["/data/summer-school/english-novels-of-1895/part-one/train-and-valid.txt"]
    page = look(written(tmp_path, told, details()), viewport={"width": 390, "height": 800})
    parts = page.locator(".facts .part")
    expect(parts).to_have_text(["/", "data/", "summer-school/", "english-novels-of-1895/", "part-one/",
                                "train-and-valid.txt"])
    assert {part.evaluate("part => part.getClientRects().length") for part in parts.all()} == {1}
    assert all(part.evaluate("part => part.scrollWidth <= part.clientWidth + 1") for part in parts.all())
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_table_that_is_cut_says_that_it_goes_on(look, path):
    page = look(path, viewport={"width": 390, "height": 800})
    expect(page.locator("#rows .scroll-hint")).to_be_visible()
    shade = "frame => getComputedStyle(frame, '::{}').opacity"
    frame = page.locator("#rows .scroll-frame")
    assert frame.evaluate(shade.format("before")) == "0"
    page.locator("#rows .scroll").evaluate("box => box.scrollTo(9999, 0)")
    expect(page.locator("#rows .scroll-hint")).to_be_hidden()
    page.locator("#rows .more-left").wait_for()
    wide = look(path, viewport={"width": 1600, "height": 900})
    expect(wide.locator("#rows .scroll-hint")).to_be_hidden()


def test_a_grid_is_a_chart_with_a_point_for_each_row(look, tmp_path):
    told, more = report(), details()
    told["rows"] = [row(f"{name} order={order}", 2 + 1 / order) for name in ("ngram", EVIL) for order in (2, 4, 32)]
    more["grid"] = [{"option": "model.order", "values": ["2", "4", "32"], "lines": [
        {"name": name, "points": [{"value": str(order), "row": f"{name} order={order}"} for order in (2, 4, 32)]}
        for name in ("ngram", EVIL)]}]
    page = look(written(tmp_path, told, more))
    chart = page.locator("#grid svg.bars")
    assert chart.locator("polyline").count() == 2 and chart.locator(".grid-point circle").count() == 6
    places = [float(dot.get_attribute("cx")) for dot in chart.locator("circle").all()[:3]]
    assert places[2] - places[1] == pytest.approx(3 * (places[1] - places[0]), rel=0.02), "2, 4, 32 are logarithmic"
    page.locator("#grid summary").click()
    expect(page.locator("#grid tbody tr")).to_have_count(6)
    more["grid"][0]["values"] = ["a", "b"]
    more["grid"][0]["lines"] = [{"name": "ngram", "points": [{"value": "a", "row": "ngram order=2"},
                                                             {"value": "b", "row": "not there"}]}]
    assert look(written(tmp_path, told, more)).locator("#grid circle").count() == 1


def test_a_small_significant_difference_is_not_minus_zero(look, tmp_path):
    told = report()
    told["pairs"] = [{"a": "ngram", "b": "lstm", "difference": -0.0031, "low": -0.005, "high": -0.001, "p_value": 0.01,
                      "significant": True}]
    page = look(written(tmp_path, told, details()))
    assert "−0.003" in page.locator("#differences td.better").inner_text()
