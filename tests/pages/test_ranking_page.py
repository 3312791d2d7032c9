"""The pages of rankings, of a classifier's decisions, and of words, in a real browser."""

import pytest

import chainrule
from chainrule.inspection.confusions import confusions
from chainrule.inspection.decisions import explain
from chainrule.inspection.words import look_at_words
from chainrule.pages.page import write_page

FAST = ["model.dimension=8", "model.bucket=2000", "training.threads=1"]


@pytest.fixture(scope="module")
def folder(bundle, kinds_folder, kinds, tmp_path_factory, warm_trials):
    folder = tmp_path_factory.mktemp("rankings")
    terms = chainrule.Terms(changes=[*FAST, "training.lr=0.5"])
    chainrule.compare(["text-classifier", "text-classifier", "model.word_ngrams=2"], kinds_folder / "train.txt",
                      folder / "report", budget="10m", terms=terms)
    grid = chainrule.Terms(changes=terms.changes, grid=["model.word_ngrams=1,2"])
    chainrule.compare("text-classifier", kinds_folder / "train.txt", folder / "grid", budget="10m", terms=grid)
    chainrule.train("ppmi", kinds, folder / "words", overrides=["tokenizer.min_count=1", "model.dimension=5"])
    return folder


def test_the_ranking_has_every_row_every_pair_and_the_recipes(folder, look):
    page = look(folder / "report" / "report.html")
    names = [each.inner_text() for each in page.locator("#rows tbody th").all()]
    assert set(names) == {"text-classifier", "text-classifier word_ngrams=2", "most frequent label"}
    assert page.locator("#differences tbody tr").count() == 3 and page.locator("#recipes details").count() == 2
    assert page.locator("#rows svg[role=img]").count() == 3
    assert "accuracy, higher is better" in page.locator(".facts").inner_text()


def test_a_ranking_over_a_grid_has_its_chart(folder, look):
    page = look(folder / "grid" / "report.html")
    picture = page.locator("#grid img")
    assert picture.get_attribute("alt") == "accuracy by model.word_ngrams"
    assert picture.evaluate("each => each.complete && each.naturalWidth > 300")
    assert look(folder / "report" / "report.html").locator("#grid").count() == 0


def test_a_decision_is_colored_and_a_word_tells_its_numbers(folder, look, kinds_folder):
    run = next(path for path in sorted((folder / "report" / "runs").iterdir()) if "ngrams" in path.name)
    loaded = chainrule.load(run)
    found = explain(loaded, ["<b>the</b> cat eats & sleeps"])
    found["labeled"] = confusions(loaded, kinds_folder / "test.csv")
    write_page(folder / "decisions.html", view="decisions", title="Why", data=found)
    page = look(folder / "decisions.html")
    assert page.locator(".colored span").all_inner_texts() == ["<b>the</b>", " cat", " eats", " &", " sleeps"]
    page.locator(".colored span").nth(1).hover()
    told = page.locator("#text-0 p[aria-live]")
    told.get_by_text("cat: adds").wait_for()
    assert "without it ln p falls by" in told.inner_text()
    page.get_by_role("radio", name="what its absence takes").click()
    page.get_by_text("falls when the word is left out").wait_for()
    assert page.locator("#confusions").count() == 1


def test_words_are_listed_compared_and_mapped(folder, look):
    run = chainrule.load(folder / "words")
    words = list(run.vectors.words[:3])
    found = look_at_words(run, words, top=4)
    write_page(folder / "words.html", view="words", title="Words", data=found)
    page = look(folder / "words.html")
    assert page.locator(".words-lists li").count() == 12 and page.locator("#similarity canvas, #similarity svg").count()
    assert page.locator(".words-map text").all_text_contents() == found["map"]["words"]
