"""Budgets as people write them become seconds, tokens or FLOPs; what is neither is refused with an example."""

import pytest

from chainrule.errors import UsageError
from chainrule.experiments.budget import parse_budget, parse_size
from chainrule.experiments.contestants import contestants
from chainrule.experiments.planning import planned
from chainrule.experiments.standings import off_budget
from chainrule.experiments.terms import Terms, shared_changes
from chainrule.training.plan import Budget


@pytest.mark.parametrize(("text", "kind", "amount"), [
    ("90s", "seconds", 90), ("5m", "seconds", 300), ("1.5h", "seconds", 5400), ("2min", "seconds", 120),
    ("20Mtok", "tokens", 20e6), ("500ktok", "tokens", 5e5), ("1000 tokens", "tokens", 1000), ("3Gtok", "tokens", 3e9),
    ("1e15flop", "flops", 1e15), ("2.5Pflops", "flops", 2.5e15), ("1_000flop", "flops", 1000)])
def test_a_budget_is_read(text, kind, amount):
    found = parse_budget(text)
    assert found == Budget(**{kind: amount}) and (found.kind, found.amount) == (kind, amount)


@pytest.mark.parametrize("text", ["", "5", "m", "5x", "-3s", "0s", "1e999s", "Mtok", "5 m 3 s", "20mtok"])
def test_an_invalid_budget_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="--budget = .* Such as 90s, 5m, 1h, 20Mtok or 1e15flop"):
        parse_budget(text)


def test_a_budget_is_a_change_to_a_recipe_and_a_phrase():
    stepwise, = contestants(["lstm"], [], own_tokenizers=True)
    changes = shared_changes(stepwise, Terms(), Budget(flops=1e15), None)
    assert "training.budget.flops=1000000000000000.0" in changes
    assert stepwise.resolved(changes).recipe.training.budget.flops == 1e15
    assert str(Budget(tokens=20e6)) == "2e+07 tokens" or str(Budget(tokens=20e6)) == "20,000,000 tokens"
    assert str(Budget(seconds=90)) == "90 seconds" and str(Budget(flops=1e15)).endswith(" FLOPs")


def test_sizes():
    assert parse_size("--params", "3M") == 3_000_000 and parse_size("--params", "250k") == 250_000
    with pytest.raises(UsageError, match="--params = '3 apples', expected a number such as 3M or 250k"):
        parse_size("--params", "3 apples")


def test_a_size_in_python_is_a_number_or_as_on_the_command_line(corpus, neural):
    budget = Budget(tokens=1000)
    terms = [Terms(params=params, tokenizer="bytes") for params in (40_000, "40k", 4e4)]
    widths = [planned([str(neural)], corpus, budget, each).entries[0].recipe.model.width for each in terms]
    assert widths[0] > 16 and len(set(widths)) == 1
    for params in ("many", True, -5, ""):
        with pytest.raises(UsageError, match=f"--params = {params!r}, expected a number such as 3M or 250k"):
            planned([str(neural)], corpus, budget, Terms(params=params))
    with pytest.raises(UsageError, match="--params = 0, expected at least 1"):
        planned([str(neural)], corpus, budget, Terms(params=0))


def test_rows_that_missed_the_budget_alike_share_a_note():
    rows = [{"name": name, "steps": 10, "tokens": tokens} for name, tokens in (
        ("a", 980), ("b", 980), ("c", 1000), ("d", 1200))] + [{"name": "counted", "steps": None, "tokens": 500}]
    assert off_budget(rows, Budget(tokens=1000)) == [
        "a, b spent 98.0% of the budget, because they train in whole steps.",
        "d spent 120.0% of the budget, because it trains in whole steps."]
    assert off_budget(rows, Budget(seconds=3)) == []
