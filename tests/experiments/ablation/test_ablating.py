"""Whole ablations with real processes: what the report says, what is done again, and what one failure costs."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chainrule
from chainrule.errors import UsageError
from chainrule.experiments.tables import write_tables

ROOT = Path(__file__).parents[3]
WORDS = ["ngram", "model.order=2,5", "model.smoothing=witten_bell,maximum_likelihood"]


@pytest.fixture(scope="module")
def ablated(corpus, tmp_path_factory):
    """Counts, which are quick: one variant gives no number, and one pair is not trained."""
    out = tmp_path_factory.mktemp("ablated") / "report"
    terms = chainrule.AblationTerms(combine="pairs", changes=["model.order=5"], side_by_side=2)
    report = chainrule.ablate(WORDS, corpus, out, budget="10s", terms=terms)
    return out, terms, report


def rows(report):
    return {row["name"]: row for row in report["rows"]}


def test_the_base_comes_first_and_what_it_has_is_not_trained_twice(ablated):
    out, _, report = ablated
    assert list(rows(report)) == [
        "ngram", "order=2", "smoothing=witten_bell", "smoothing=maximum_likelihood",
        "order=2 + smoothing=witten_bell", "order=2 + smoothing=maximum_likelihood"]
    assert report["base"] == "ngram" and report["combine"] == "pairs"
    assert report["options"][0] == {"option": "model.order", "values": [
        {"value": "2", "row": "order=2"}, {"value": "5", "row": "ngram"}]}
    assert "model.order=5: ngram has that already, so it was not trained again." in report["notes"]
    assert json.loads((out / "runs" / "order-2" / "report.json").read_text())["ngrams"]


def test_a_failing_variant_is_one_row(ablated):
    _, _, report = ablated
    failed = rows(report)["smoothing=maximum_likelihood"]
    assert failed["status"] == "failed" and "impossible" in failed["why"] and failed["effect"] is None
    assert [row["status"] for row in report["rows"]].count("ok") == 5


def test_numbers_and_differences_are_those_of_the_runs(ablated):
    _, _, report = ablated
    found = rows(report)
    base, other = found["ngram"], found["order=2"]
    assert base["effect"] is None and base["parameters"] > 50 and base["steps"] is None
    assert other["effect"]["difference"] == pytest.approx(other["value"] - base["value"])
    assert other["effect"]["low"] < other["effect"]["difference"] < other["effect"]["high"]
    assert report["measure"] == {"label": "bits/byte", "higher_is_better": False, "digits": 3}
    pair, = report["combined"]
    assert pair["changes"] == ["model.order=2", "model.smoothing=witten_bell"]
    assert pair["together"] == pytest.approx(found["order=2 + smoothing=witten_bell"]["value"] - base["value"])
    values = {name: row["value"] for name, row in found.items() if row["value"] is not None}
    assert report["best"] == min(values, key=values.get) and report["answer"]
    assert "ablate ngram model.order=2,5" in report["command"] and "--all-pairs" in report["command"]


def test_the_same_command_repeats_nothing_and_gives_the_same_report(ablated, corpus, caplog):
    out, terms, report = ablated
    caplog.set_level("INFO", "chainrule")
    made = {path: path.stat().st_mtime_ns for path in (out / "runs").glob("*/model.safetensors")}
    again = chainrule.ablate(WORDS, corpus, out, budget="10s", terms=terms)
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert caplog.text.count("already finished") == 6 and "started" not in caplog.text
    assert {**again, "environment": 0} == {**report, "environment": 0}
    assert json.loads((out / "report.json").read_text()) == again


def test_another_command_in_the_same_folder_is_refused(ablated, corpus):
    out, _, _ = ablated
    with pytest.raises(UsageError, match="holds another comparison"):
        chainrule.ablate(["ngram", "model.order=2"], corpus, out, budget="10s")


def test_tables_are_written_for_papers_and_spreadsheets(ablated, tmp_path):
    _, _, report = ablated
    files = {name: tmp_path / name for name in ("csv", "latex", "markdown")}
    write_tables(files, report)
    table = list(csv.DictReader(files["csv"].open()))
    assert [row["name"] for row in table] == list(rows(report))
    assert float(table[1]["difference"]) == report["rows"][1]["effect"]["difference"] and table[0]["difference"] == ""
    assert table[3]["status"] == "failed" and table[1]["changes"] == "model.order=2"
    lines = files["markdown"].read_text().splitlines()
    assert lines[0].startswith("| variant | parameters | FLOPs/token | steps/s | early | bits/byte | difference | 95 %")
    assert len(lines) == 2 + 6 and len({line.count("|") for line in lines}) == 1
    assert r"\begin{tabular}{lrrrrrrrrrrr}" in files["latex"].read_text()


def test_figures_are_drawn(ablated):
    out, _, _ = ablated
    assert (out / "figures" / "differences.svg").read_text().startswith("<svg")
    assert "order=2" in (out / "figures" / "differences.svg").read_text()


def test_a_notebook_shows_the_answer_and_the_table(ablated):
    _, _, report = ablated
    shown = report._repr_html_()
    assert "What helps ngram on" in shown and report["answer"][0][:20] in shown and "<svg" in shown


def test_classifiers_are_judged_by_their_measure(tmp_path, in_this_process):
    words = {"good": ["fine", "great", "lovely"], "bad": ["poor", "awful", "dull"]}
    lines = [f"__label__{label} {word} {other} film {n}" for n in range(30) for label, own in words.items()
             for word, other in ((own[n % 3], own[(n + 1) % 3]),)]
    (tmp_path / "labeled.txt").write_text("\n".join(lines) + "\n")
    report = chainrule.ablate(["text-classifier", "model.word_ngrams=2"], tmp_path / "labeled.txt", tmp_path / "out",
                              budget="1s", terms=chainrule.AblationTerms(seeds=2))
    base, other = report["rows"]
    assert report["measure"]["label"] == "accuracy" and report["measure"]["higher_is_better"]
    assert base["value"] == 1.0 and base["spread"] == 0.0 and len(other["seeds"]) == 2
    assert other["effect"]["difference"] == 0.0 and other["effect"]["verdict"] == "noise"


def command(corpus, neural, out):
    args = [sys.executable, "-m", "chainrule", "ablate", str(neural), "model.r=gru", "--data", str(corpus),
            "--budget", "20ktok", "--out", str(out), "--json"]
    return subprocess.Popen(args, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def test_after_kill_9_in_the_middle_the_same_command_goes_on(corpus, neural, tmp_path):
    out = tmp_path / "report"
    process, until = command(corpus, neural, out), time.monotonic() + 600
    while not list((out / "runs").glob(".r-gru.training/metrics.jsonl")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    finished = (out / "runs" / "small" / "model.safetensors").stat().st_mtime_ns
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (out / "report.json").exists()
    output, errors = command(corpus, neural, out).communicate(timeout=600)
    assert "[1/2] small: already finished." in errors
    assert (out / "runs" / "small" / "model.safetensors").stat().st_mtime_ns == finished
    found = json.loads(output)
    assert [(row["name"], row["status"], row["steps"]) for row in found["rows"]] == [
        ("small", "ok", 312), ("r=gru", "ok", 312)]
    base, gru = found["rows"]
    assert gru["parameters"] < base["parameters"] and gru["flops_per_token"] < base["flops_per_token"]
    assert gru["early"] > gru["value"] * 0.9 and gru["measured"]["steps_per_second"] > 1
    assert abs(gru["gain_at_equal_flops"] + gru["effect"]["difference"]) < 0.1  # nearly the same FLOPs
    assert sorted(path.stem for path in (out / "figures").glob("*.svg")) == [
        "curves-flops", "curves-seconds", "curves-tokens", "differences"]
