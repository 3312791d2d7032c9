"""The map of word vectors in a real browser: search, zoom, pointer, keyboard, small screens."""

import json

import numpy as np
import pytest

from chainrule.inspection.neighbors import neighbors
from chainrule.pages.page import write_page

EVIL = "<img/src=x/onerror='window.hacked=1'>"
SIZE = 1000


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(SIZE, 8))
    words = ["king", "queen", EVIL, *(f"word{n}" for n in range(SIZE - 4)), "kingdom"]
    found = neighbors(vectors, range(SIZE), count=5)
    maps = [{"name": name, "places": vectors[:, own].tolist(), "said": f"{name}: a test."}
            for name, own in (("t-SNE", [0, 1]), ("PCA", [2, 3]))]
    return {"run": "runs/test", "method": "tsne", "words": words, "of": 5000, "dimension": 8,
            "counts": list(range(SIZE, 0, -1)), "strong": [], "first": list(range(SIZE)),
            "groups": {"of": [n % 3 - 1 for n in range(SIZE)], "names": [EVIL, "others"], "said": "Colors: a test."},
            "maps": maps, "near": [[id for id, _ in row] for row in found],
            "cosines": [[cosine for _, cosine in row] for row in found]}


@pytest.fixture(scope="module")
def path(tmp_path_factory, bundle, data):
    path = tmp_path_factory.mktemp("map") / "map.html"
    write_page(path, view="map", title="The words of a test", data=data)
    return path


def expect(locator):
    from playwright.sync_api import expect

    return expect(locator)


def pixels(page):
    return page.locator("canvas").evaluate(
        "box => [...box.getContext('2d').getImageData(0, 0, box.width, box.height).data].filter(Boolean).length")


def zoom(page):
    return float(page.locator("canvas").get_attribute("data-zoom"))


def test_all_words_are_drawn_and_counted(look, path):
    page = look(path)
    said = "1,000 of 5,000 words, 8 numbers each. t-SNE: a test. Colors: a test."
    expect(page.locator("header .quiet")).to_have_text(said)
    assert pixels(page) > 10_000 and page.evaluate("window.hacked") is None


def test_a_search_marks_words_and_enter_goes_to_the_first(look, path, data):
    page = look(path)
    before = zoom(page)
    page.get_by_role("searchbox").fill("king")
    expect(page.locator(".map-found")).to_have_text("2 words")
    expect(page.locator(".map-matches button")).to_have_text(["king", "kingdom"])
    page.keyboard.press("Enter")
    expect(page.locator(".map-card h3")).to_have_text("king")
    assert zoom(page) == pytest.approx(4 * before, rel=0.01)
    names = page.locator(".map-card li button").all_inner_texts()
    assert names == [data["words"][n] for n in data["near"][0]]
    assert page.locator(".map-card li .number").first.inner_text() == f"{data['cosines'][0][0]:.2f}"
    page.locator(".map-card li button").first.click()
    expect(page.locator(".map-card h3")).to_have_text(names[0])
    page.get_by_role("searchbox").fill("nothing of the kind")
    expect(page.locator(".map-found")).to_have_text("no such word on the map")


def test_a_word_that_is_markup_is_only_text(look, path):
    page = look(path)
    page.get_by_role("searchbox").fill("onerror")
    page.keyboard.press("Enter")
    expect(page.locator(".map-card h3")).to_have_text(EVIL)
    assert page.evaluate("window.hacked") is None


def test_the_wheel_zooms_about_the_pointer_and_dragging_moves(look, path):
    page = look(path)
    expect(page.locator("canvas")).to_be_visible()
    page.get_by_role("searchbox").fill("queen")
    page.keyboard.press("Enter")
    expect(page.locator(".map-card h3")).to_have_text("queen")
    before, bounds = zoom(page), page.locator("canvas").bounding_box()
    middle = bounds["x"] + bounds["width"] / 2, bounds["y"] + bounds["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, -400)
    expect(page.locator("canvas")).not_to_have_attribute("data-zoom", f"{before:.3f}")
    assert zoom(page) > 1.5 * before
    expect(page.locator(".map-card h3")).to_have_text("queen")  # still under the pointer
    page.mouse.down()
    page.mouse.move(middle[0] - 150, middle[1] + 100, steps=5)
    page.mouse.up()
    page.mouse.move(middle[0] - 149, middle[1] + 100)
    expect(page.locator(".map-card h3")).to_have_text("queen")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("canvas")).to_have_attribute("data-zoom", f"{before / 4:.3f}")


def test_the_keyboard_alone_moves_and_zooms(look, path):
    page = look(path)
    before = zoom(page)
    page.locator("canvas").focus()
    page.keyboard.press("+")
    expect(page.locator("canvas")).not_to_have_attribute("data-zoom", f"{before:.3f}")
    assert zoom(page) == pytest.approx(1.4 * before, rel=0.01)
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)  # the last is drawn a moment later
    assert pixels(page) == 0  # all words have gone out at the left
    page.keyboard.press("0")
    expect(page.locator("canvas")).to_have_attribute("data-zoom", f"{before:.3f}")


def colored(page, name):
    """Pixels in one of the colors of the page."""
    return page.locator("canvas").evaluate("""(box, name) => {
      const wanted = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const [r, g, b] = [1, 3, 5].map((n) => parseInt(wanted.slice(n, n + 2), 16));
      const copy = Object.assign(document.createElement("canvas"), { width: box.width, height: box.height });
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(box, 0, 0);
      const data = pen.getImageData(0, 0, box.width, box.height).data;
      let found = 0;
      for (let n = 0; n < data.length; n += 4) found += data[n] === r && data[n + 1] === g && data[n + 2] === b;
      return found;
    }""", name)


def test_groups_have_colors_and_one_can_be_shown_alone(look, path):
    page = look(path)
    expect(page.locator(".map-legend button")).to_have_text([EVIL, "others"])
    before = colored(page, "--series-0"), colored(page, "--series-1")
    assert min(before) > 500
    page.locator(".map-legend button").nth(1).click()
    expect(page.locator(".map-legend button").first).to_have_attribute("aria-pressed", "false")
    assert colored(page, "--series-0") < 50 and colored(page, "--series-1") > 500
    page.locator(".map-legend button").nth(1).click()
    expect(page.locator(".map-legend button").first).to_have_attribute("aria-pressed", "true")


def test_the_other_map_is_a_click_away(look, path):
    page = look(path)
    page.get_by_role("radio", name="PCA").click()
    expect(page.locator("header .quiet")).to_contain_text("PCA: a test.")
    assert pixels(page) > 10_000


def test_a_phone_shows_it_without_scrolling_sideways(look, path):
    page = look(path, viewport={"width": 360, "height": 700}, color_scheme="dark")
    expect(page.locator("canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360 and pixels(page) > 5_000


def test_the_command_writes_the_page(look, tmp_path, bundle, capsys):
    import chainrule
    from chainrule.cli.app import main

    (tmp_path / "text.txt").write_text("the cat sat on the mat and the dog ran\n" * 30)
    chainrule.train("skipgram", tmp_path / "text.txt", tmp_path / "run",
                    overrides=["model.dimension=4", "training.threads=1", "tokenizer.min_count=1"])
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(tmp_path / "run"), "--map", "--method", "pca", "--out", str(tmp_path / "words.html")])
    said = capsys.readouterr()
    assert ended.value.code == 0 and "words.html" in said.err and "8 of 8 words" in said.out
    page = look(tmp_path / "words.html")
    page.get_by_role("searchbox").fill("dog")
    page.keyboard.press("Enter")
    expect(page.locator(".map-card h3")).to_have_text("dog")
    shown = json.loads(page.locator("#data").text_content())
    assert shown["view"] == "map" and len(shown["data"]["words"]) == 8
