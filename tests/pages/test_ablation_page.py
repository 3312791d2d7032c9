"""The page of an ablation in a real browser: the answer, the table, pairs, curves and the search."""

import pytest
from playwright.sync_api import expect

from chainrule.experiments.ablation.rows import empty_row
from chainrule.pages.page import write_page


def row(name, changes, value, effect):
    return empty_row(name, changes) | {"value": value, "spread": 0.01, "effect": effect, "parameters": 21_000,
                                       "early": 3.0, "rate": 0.01}


@pytest.fixture
def page_of(tmp_path):
    effect = {"difference": -0.2, "low": -0.3, "high": -0.1, "p_holm": 0.0001, "verdict": "helps", "significant": True}
    failed = empty_row("f=x", ["model.f=x"]) | {"status": "failed", "why": "out of memory. <b>"}
    tried = [{"factor": factor, "rate": 0.01 * factor, "loss": 2.0 + factor} for factor in (0.5, 1.0)]
    report = {"base": "net", "command": "chainrule ablate net model.norm=rms", "answer": ["Helps here: norm=rms."],
              "data": {"spec": ["pydoc"]}, "budget": {"kind": "tokens", "amount": 1000}, "seeds": [0, 1],
              "measure": {"label": "bits/byte", "higher_is_better": False, "digits": 3}, "units": "blocks",
              "curves_of": "bits/byte", "notes": ["a note"], "rows": [
                  row("net", [], 2.5, None), row("norm=rms", ["model.norm=rms"], 2.3, effect), failed],
              "combined": [{"changes": ["a=1", "b=2"], "together": -0.3, "sum": -0.4, "low": 0.05, "high": 0.15}],
              "search": {"share": 0.125, "cost": {"seconds": 12.0}, "rates": {"net": {"rate": 0.005, "tried": tried}}}}
    curve = [{"tokens": n, "flops": 10 * n, "seconds": n / 100, "loss": 5 - n / 500} for n in (100, 500, 1000)]
    path = tmp_path / "report.html"
    write_page(path, view="ablation", title="What helps net on pydoc?",
               data={"report": report, "curves": {"net": curve, "norm=rms": curve}, "recipes": {"net": "family: n"}})
    return path


def test_an_ablation_can_be_read_in_a_browser(page_of, look):
    page = look(page_of)
    expect(page.locator("h1")).to_have_text("What helps net on pydoc?")
    expect(page.locator("#answer")).to_contain_text("Helps here: norm=rms.")
    expect(page.locator("#rows [data-row='norm=rms'] .verdict")).to_have_text("helps")
    expect(page.locator("#rows [data-row='norm=rms']")).to_contain_text("−0.200")
    expect(page.locator("#rows [data-row='f=x']")).to_contain_text("failed: out of memory. <b>")
    expect(page.locator("#combined")).to_contain_text("+0.050 to +0.150")
    expect(page.locator("#curves canvas")).to_be_visible()
    expect(page.locator("#search")).to_contain_text("0.005")
    expect(page.locator("#notes")).to_contain_text("a note")
