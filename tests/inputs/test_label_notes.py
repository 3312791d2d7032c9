"""Labels that nothing can be learned or measured of are named with file and row, by both kinds of classifier."""

import pytest

from chainrule import evaluate, train

TABLE = "\ufefflabel,text\ngood,a warm film\nbad,a dull film\n\ngood,a bright play\nbad,a grim play\nmixed,two ends\n"
RECIPES = {"text-classifier": ["training.threads=1", "training.epochs=1"],
           "bag-classifier": ["model.width=4", "training.budget.steps=1"]}


@pytest.mark.parametrize("recipe", RECIPES)
def test_labels_that_are_rare_missing_or_new_are_named_with_their_row(recipe, tmp_path, caplog):
    if recipe != "text-classifier":
        pytest.importorskip("torch")
    folder = tmp_path
    (folder / "reviews.csv").write_text(TABLE, encoding="utf-8")
    train(recipe, folder / "reviews.csv", folder / "run", overrides=RECIPES[recipe])
    assert [text for text in caplog.messages if "the only example" in text] == [
        f"{folder / 'reviews.csv'}: line 7: the only example of the label 'mixed'. A label that is seen once can "
        "hardly be learned: give more examples, or leave it out."]
    (folder / "more.csv").write_text(TABLE + "odd,three ends\nrare,four ends\n", encoding="utf-8")
    train(recipe, folder / "more.csv", folder / "more", overrides=RECIPES[recipe])
    assert "'mixed', and 2 other labels have one example each. A label" in caplog.text
    (folder / "new.csv").write_text("label,text\ngood,a lovely film\nworse,a grim play\nworst,no play\n")
    caplog.clear()
    evaluate(folder / "run", folder / "new.csv", bootstrap=0)
    unlearned = f"{folder / 'new.csv'}: no example of 2 of the 3 labels that were learned (bad, mixed). How well " \
        "these are found is not measured."
    unknown = f"{folder / 'new.csv'}: line 3: the label 'worse' was not in the training data. 2 labels like that " \
        "count as wrong."
    assert caplog.messages == [unlearned, unknown]
    caplog.clear()
    evaluate(folder / "run", folder / "new.csv", bootstrap=0, threshold=0.5)
    assert caplog.messages == [unlearned]  # what is rejected is right, and the figures say so
