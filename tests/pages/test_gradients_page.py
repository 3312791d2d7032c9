"""The page of gradients in a real browser: it looks as the other pages do, in light and dark."""

import pytest

from chainrule.inspection.gradient_charts import page_data
from chainrule.models.inside.norms import Gradients
from chainrule.pages.page import write_page

EVIL = "<img/src=x/onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def path(tmp_path_factory, bundle):
    flat = Gradients(("0 elman",), ((1.0, 1e-3, 1e-6),), (0.25,), 40.0, 1.0, 1.0, 5.5)
    deep = Gradients(("0 attention", "1 mlp"), ((1.0, 0.5, 0.25), (0.5, 0.0, 0.0)), (2.0, 0.004), 0.5, None, 0.5, 4.5)
    path = tmp_path_factory.mktemp("gradients") / "page.html"
    write_page(path, view="gradients", title="Gradients on pydoc",
               data=page_data({EVIL: flat, "deep": deep}, "pydoc"))
    return path


def expect(locator):
    from playwright.sync_api import expect

    return expect(locator)


def test_models_of_one_layer_are_bars_and_others_lines(look, path):
    page = look(path)
    expect(page.locator("h2")).to_have_text([
        "Gradient through time: the first layer of each model", "Gradient of each layer's parameters",
        "Models of one layer: the gradient of the layer's parameters", "Clipping"])
    assert page.locator(".uplot").count() == 2
    names = page.locator(".lying li > span:first-child").all_inner_texts()
    assert names == [EVIL, f"clipped: {EVIL}"] and page.evaluate("window.hacked") is None
    assert page.locator(".lying .number").all_inner_texts() == ["0.25", "0.00625"]
    wide = [each.bounding_box()["width"] for each in page.locator(".lying .bar i").all()]
    assert wide[0] > wide[1] > 0


def test_the_numbers_are_a_click_away(look, path):
    page = look(path)
    page.locator("#chart-1 summary").click()
    expect(page.locator("#chart-1 tbody tr")).to_have_text(["02", "10.004"])


@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_dark_on_dark_screens_and_fits(look, path, width):
    page = look(path, viewport={"width": width, "height": 800}, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    assert page.evaluate("document.documentElement.scrollWidth") == width
