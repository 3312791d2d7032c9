"""--search: every variant gets the best of a few learning rates, chosen without a look at what is held out."""

import json

import pytest

import chainrule
from chainrule.errors import UsageError
from chainrule.experiments.ablation.search import FACTORS, _chosen, rate_of
from chainrule.experiments.contestants import Contestant
from chainrule.recipe.recipe import load_recipe


def test_the_rate_is_the_recipes_or_that_of_its_optimizer(neural):
    assert rate_of(load_recipe("transformer")) == 0.01 and rate_of(load_recipe("ngram")) is None
    assert rate_of(load_recipe(str(neural))) == 0.001 and rate_of(load_recipe(str(neural), ["family=engine"])) == 0.001


def test_the_lowest_loss_wins_and_failures_do_not():
    each = Contestant("it", "it", "transformer", (), load_recipe("transformer"))
    found = _chosen(each, [{"loss": 3.0}, {"loss": 2.5}, {"failed": "training diverged."}])
    assert found["rate"] == 0.01 and [one["rate"] for one in found["tried"]] == [0.00333, 0.01, 0.03]
    assert _chosen(each, [{"loss": 3.0}, {"loss": 2.5}, {"loss": 2.4}])["rate"] == 0.03
    assert _chosen(each, [{"failed": "no"}] * 3)["rate"] == 0.01


@pytest.mark.parametrize(("words", "message"), [
    (["ngram", "model.order=2"], "--search: ngram has no training.optimizer.rate, expected a recipe with a learning"),
    (["transformer", "training.optimizer.rate=0.1,0.01"], "--search finds the learning rate, which training.optimizer"),
])
def test_a_search_for_what_is_not_there_is_refused(words, message, corpus, tmp_path):
    with pytest.raises(UsageError, match=message):
        chainrule.ablate(words, corpus, tmp_path / "out", terms=chainrule.AblationTerms(search=True))
    assert not (tmp_path / "out").exists()


def test_rates_are_searched_for_and_said(corpus, neural, tmp_path, caplog, in_this_process):
    caplog.set_level("INFO", "chainrule")
    terms = chainrule.AblationTerms(search=True)
    report = chainrule.ablate([str(neural), "model.r=gru"], corpus, tmp_path / "out", budget="8ktok", terms=terms)
    assert "6 trainings of 1,000 tokens each" in caplog.text and "2 trainings of 8,000 tokens each" in caplog.text
    search = report["search"]
    assert search["cost"]["trainings"] == 6 and search["cost"]["tokens"] == 6 * 1024 and search["cost"]["seconds"] > 0
    for row in report["rows"]:
        tried = search["rates"][row["name"]]["tried"]
        assert [one["factor"] for one in tried] == list(FACTORS)
        best = min(tried, key=lambda one: one["loss"])
        recipe = load_recipe(str(tmp_path / "out" / row["run"] / "recipe.yaml"))
        assert row["rate"] == best["rate"] == recipe.training.optimizer["rate"]
    assert any(note.startswith("--search: each variant got the best of 3 learning rates, by 6 trainings") for note in
               report["notes"])
    held_out = json.loads((tmp_path / "out" / "comparison.json").read_text())["held out"]
    for path in (tmp_path / "out" / "search" / "runs").glob("*/report.json"):
        assert json.loads(path.read_text())["data"]["valid"] != held_out
    caplog.clear()
    again = chainrule.ablate([str(neural), "model.r=gru"], corpus, tmp_path / "out", budget="8ktok", terms=terms)
    assert caplog.text.count("already finished") == 8 and again["search"] == search
