"""The verbs as functions: what the command line does, from Python, and nothing heavy on import."""

import subprocess
import sys

import numpy as np
import pytest

import chainrule


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 20)
    report = chainrule.train("ngram", text, folder / "run", overrides=["model.order=3"])
    assert report["ngrams"][0] == 10
    return folder / "run"


def test_a_run_is_evaluated_scored_and_sampled_from_python(run, tmp_path):
    text = tmp_path / "test.txt"
    text.write_text("the cat sat on the log\n")
    found = chainrule.evaluate(run, text, by_order=True)
    lines = chainrule.score(run, ["the cat sat on the log", "log the on sat cat the"])
    assert found["nll"] == pytest.approx(-lines[0], rel=1e-6) and lines[0] > lines[1]
    assert [row["context"] for row in found["by_order"]] == [0, 1, 2]
    loaded = chainrule.load(run)
    some = chainrule.generate(loaded, "the", num=2, sampling=chainrule.Sampling(seed=3, temperature=0.7))
    again = chainrule.generate(loaded, "the", num=2, sampling=chainrule.Sampling(seed=3, temperature=0.7))
    assert some == again and len(some) == 2


def test_many_lines_are_scored_as_one_by_one(run):
    loaded = chainrule.load(run)
    lines = ["the cat sat", "", "the unseen dog", "mat mat mat"] * 3
    np.testing.assert_allclose(chainrule.score(loaded, lines), [chainrule.score(loaded, [line])[0] for line in lines])


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numpy", "numba", "torch", "pydantic", "tokenizers", "typer", "rich"}
    code = f"import sys, chainrule; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        chainrule.trian  # noqa: B018
