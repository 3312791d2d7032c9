"""The page of `chainrule inspect` in a real browser: real models, real texts, and everything that answers a pointer."""

import json
import re
import subprocess
import sys

import pytest

from chainrule.inspection.inspect_text import look as look_inside
from chainrule.pages.page import write_page
from chainrule.runs import load
from chainrule.storage.json_text import json_text
from chainrule.text.corpora import open_corpus
from chainrule.verbs.train import train

EVIL = "<img src=x onerror='window.hacked=1'>"
TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\nthe mat and the log\n"
SMALL = """
family: neural
tokenizer: characters
model: {pattern: (sf)*2, width: 16, context: 24, position: learned, s: {name: attention, heads: 2}}
training: {budget: {steps: 2}, batch: 2, keep: 0}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, bundle):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "text.txt").write_text(TEXT * 4 + f"the {EVIL} sat\n")
    (folder / "read.txt").write_text(f"the dog sat on a bird\nthe {EVIL} sat on the mat\n")
    (folder / "small.yaml").write_text(SMALL)
    train(folder / "small.yaml", folder / "text.txt", folder / "gpt")
    for order in (2, 4):
        train("ngram", folder / "text.txt", folder / f"o{order}", overrides=[f"model.order={order}"])
    train("mixture", folder / "read.txt", folder / "mix",
          overrides=[f"model.members=[{folder / 'o2'},{folder / 'o4'}]"])
    return folder


def expect(locator):
    """Waits until it is so: pages draw a moment after a pointer has moved."""
    from playwright.sync_api import expect

    return expect(locator)


def expect_sections(page, names):
    expect(page.locator("section").first).to_be_visible()
    assert page.locator("section").evaluate_all("all => all.map((each) => each.id)") == names


def written(folder, name):
    """The page of a run, and the data that it shows."""
    found = look_inside(load(folder / name), open_corpus(folder / "read.txt"))
    write_page(folder / f"{name}.html", view="inspect", title=f"{name} reads", data=found)
    return folder / f"{name}.html", json.loads(json_text(found))


def test_tokens_are_colored_by_surprisal_and_the_pointer_shows_what_was_expected(look, folder):
    path, data = written(folder, "o4")
    page = look(path)
    spans = page.locator("#surprisal .colored span")
    expect(spans).to_have_count(len(data["tokens"]))
    assert page.evaluate("window.hacked") is None and EVIL.split()[0] in page.locator("#surprisal").inner_text()
    shades = spans.evaluate_all("all => all.map((span) => parseInt(/ (\\d+)%/.exec(span.style.background)?.[1] ?? 0))")
    bits = [each["surprisal"] for each in data["tokens"]]
    ordered = [shade for _, shade in sorted(zip(bits, shades, strict=True))]
    assert ordered == sorted(ordered) and ordered[0] < ordered[-1]
    spans.nth(4).hover()
    card = page.locator(".token-card")
    expect(card.locator("h3 code")).to_have_text("a")
    assert data["tokens"][4]["text"] == "a" and f"{bits[4]:.2f} bits" in card.inner_text()
    assert card.locator("li code").all_inner_texts() == [each["text"] for each in data["tokens"][4]["top"]]
    page.locator("#surprisal .colored").focus()
    page.keyboard.press("Home")
    expect(card.locator("h3 code")).to_have_text("the")


def test_the_chart_of_bits_answers_the_pointer(look, folder):
    page = look(written(folder, "o4")[0])
    page.locator("#surprisal .canvas").hover(position={"x": 300, "y": 100})
    expect(page.locator("#surprisal .readout")).to_contain_text("expected (entropy)")


def test_the_path_of_each_token_is_a_row_that_sorts(look, folder):
    path, data = written(folder, "o4")
    page = look(path)
    rows = page.locator("#backoff tbody tr")
    backoff = data["models"][0]["backoff"]
    expect(rows).to_have_count(len(data["tokens"]))
    shown = rows.nth(4).locator(".step").all_inner_texts()
    assert len(shown) == len(backoff["tokens"][4]["left"]) + 1 and "γ dog sat on" in shown[0]
    page.get_by_role("button", name="order").click()
    expect(page.locator("#backoff th[aria-sort=descending]")).to_contain_text("order")
    orders = [int(text) for text in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert orders == sorted(orders, reverse=True) and orders[0] == 4
    assert page.locator("#backoff svg.bars rect").count() == 4


def test_a_model_has_only_the_sections_of_what_it_has(look, folder):
    path, data = written(folder, "o4")
    page = look(path)
    expect_sections(page, ["surprisal", "backoff"])
    assert "Left out" not in page.locator(".inspect-head").inner_text()
    page = look(written(folder, "gpt")[0])
    expect_sections(page, ["surprisal", "attention", "layers", "positions", "neighbors"])


def test_a_small_map_is_enlarged_and_a_token_shows_where_it_looks(look, folder):
    path, data = written(folder, "gpt")
    page = look(path)
    attention = data["models"][0]["attention"]
    expect(page.locator(".miniature")).to_have_count(2 * (2 + 1))  # two heads and the rollout in each of two layers
    drawn = page.locator(".miniature canvas").first.evaluate(
        "box => [...box.getContext('2d').getImageData(0, 0, box.width, box.height).data].filter(Boolean).length")
    assert drawn > 0
    page.get_by_role("button", name="2 attention, head 1").click()
    expect(page.locator(".large h3")).to_have_text("2 attention, head 1")
    page.locator(".looks .colored span").nth(3).hover()
    weights = attention["layers"][1]["heads"][1][3]
    best = max(range(24), key=lambda k: weights[k])
    seen = f"looks at {attention['read'][best].replace(' ', '␣')} {weights[best]:.2f}"
    expect(page.locator(".looks .looked")).to_contain_text(seen)
    strengths = page.locator(".looks .colored span").evaluate_all("all => all.map((span) => span.style.background)")
    assert all(strengths[:4]) and not any(strengths[4:])  # nobody looks ahead
    page.locator(".large canvas").hover(position={"x": 4, "y": 4})
    expect(page.locator(".large .heat-told")).to_have_text("from <s>, to <s>: 1.000")
    page.get_by_role("button", name="rollout up to 2 attention").click()
    expect(page.locator(".large h3")).to_have_text("rollout up to 2 attention")


def test_layers_are_compared_by_the_measure_that_is_chosen(look, folder):
    path, data = written(folder, "gpt")
    page = look(path)
    layers = data["models"][0]["layers"]
    for name, key in (("CKA", "cka"), ("cosine", "cosine")):
        page.locator("#layers").get_by_role("radio", name=name, exact=True).click()
        page.locator("#layers canvas").hover(position={"x": 4, "y": 40})
        expect(page.locator("#layers .heat-told")).to_have_text(re.compile(f": {layers[key][1][0]:.3f}$"))


def test_positions_stand_side_by_side_and_neighbors_in_a_table(look, folder):
    path, data = written(folder, "gpt")
    page = look(path)
    forms = ["learned, this model's", "sinusoidal", "rotary", "alibi"]
    expect(page.locator("#positions .side-by-side h3")).to_have_text(forms)
    assert page.locator("#positions .legend button").count() == 4
    neighbors = data["models"][0]["neighbors"]
    assert page.locator("#neighbors tbody tr").count() == len(neighbors)
    assert page.locator("#neighbors tbody tr").first.locator(".step code").all_inner_texts() == [
        each["text"].replace(" ", "␣").replace("\n", "⏎") for each in neighbors[0]["near"]]


def test_a_mixture_shows_its_members(look, folder):
    path, data = written(folder, "mix")
    page = look(path)
    expect_sections(page, ["surprisal", "members-0", "backoff-1", "backoff-2"])
    page.locator("#members-0 .colored span").nth(2).hover()
    expect(page.locator("#members-0 .looked")).to_have_text(re.compile("^sat: member 0 "))


@pytest.mark.parametrize("name", ["gpt", "o4", "mix"])
def test_the_page_fits_a_phone_and_prints(look, folder, name):
    page = look(written(folder, name)[0], viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")


def test_the_command_writes_the_page(look, folder):
    command = [sys.executable, "-m", "chainrule", "inspect", "o4", "--text", "read.txt", "--out", "new/page.html"]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=600, check=True)
    assert done.stderr.endswith("chainrule: wrote new/page.html.\n") and done.stdout.count("\n") == 2
    page = look(folder / "new" / "page.html")
    assert page.title() == page.locator("h1").inner_text() == "o4 reads read.txt"
