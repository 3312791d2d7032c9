"""The commands that show the first slice works, on the public data sets beside the repository: numbers as published."""

import gzip
import json
import lzma
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (SHARED / "data").is_dir(),
                                                   reason="the data sets are not there: no folder ../shared/data")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder beside which the data sets lie, as they do beside the repository."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "shared").symlink_to(SHARED)
    (folder / "here").mkdir()
    return folder / "here"


@pytest.fixture(scope="module")
def chainrule(place):
    """`chainrule("train ngram ...")` as typed in a shell; what it printed."""
    def run(line):
        command = f'"{sys.executable}" -m chainrule {line}'
        done = subprocess.run(command, shell=True, cwd=place, text=True, capture_output=True, timeout=900,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr and "Warning" not in done.stderr
        return done.stdout
    return run


@pytest.fixture(scope="module")
def ptb5(chainrule):
    chainrule("train ngram --data ../shared/data/ptb/ptb.train.txt.gz --out runs/ptb5 model.order=5 "
              "tokenizer.name=words")
    return "runs/ptb5"


def test_the_penn_treebank_has_the_perplexity_of_the_literature(chainrule, ptb5):
    found = json.loads(chainrule("evaluate runs/ptb5 --data ../shared/data/ptb/ptb.test.txt.gz --json"))
    assert found["tokens"] == 82_430
    assert found["perplexity"] == pytest.approx(141.1862, abs=1e-3)
    low, high = found["interval"]["perplexity"]
    assert low < 141.19 < high


@pytest.mark.parametrize(("order", "perplexity"), [(3, 230.8863), (5, 224.8116)])
def test_wikitext_2_has_the_perplexity_that_kenlm_gives(chainrule, order, perplexity):
    chainrule(f"train ngram --data ../shared/data/wikitext-2/train.txt.gz --out runs/wt{order} model.order={order} "
              "tokenizer.name=words")
    found = json.loads(chainrule(f"evaluate runs/wt{order} --data ../shared/data/wikitext-2/test.txt.gz --json"))
    assert found["tokens"] == 244_102
    assert found["perplexity"] == pytest.approx(perplexity, abs=1e-3)


def test_novels_with_byte_pairs_are_measured_in_bits_per_byte(chainrule):
    chainrule("train ngram-bpe --data ../shared/data/novels95/train.txt.xz --out runs/novels")
    found = json.loads(chainrule("evaluate runs/novels --data ../shared/data/novels95/test.txt.xz --json"))
    assert found["bits_per_byte_comparable"] is True
    assert found["bytes"] == len(lzma.decompress((SHARED / "data/novels95/test.txt.xz").read_bytes()))
    assert found["bits_per_byte"] == pytest.approx(found["nll"] / math.log(2) / found["bytes"])
    assert found["bits_per_byte"] == pytest.approx(1.6236, abs=0.005)


def test_three_texts_go_on_from_a_prompt_and_the_seed_decides_them(chainrule, ptb5):
    line = 'generate runs/ptb5 --prompt "the company" --num 3 --seed 1'
    texts = chainrule(line)
    assert [text.startswith("the company") for text in texts.splitlines()] == [True] * 3
    assert chainrule(line) == texts != chainrule(line.replace("--seed 1", "--seed 2"))


def test_kenlm_gives_equal_scores_to_1000_sentences(chainrule, place, ptb5):
    """The file and what is imported from it; the text's own <unk> keeps its name there, so it means the same to all."""
    kenlm = pytest.importorskip("kenlm", reason="the kenlm module is not installed")
    with gzip.open(SHARED / "data" / "ptb" / "ptb.test.txt.gz", "rt") as file:
        sentences = [next(file).strip() for _ in range(1000)]
    (place / "sentences.txt").write_text("\n".join(sentences) + "\n")
    chainrule("export runs/ptb5 --to arpa out.arpa")
    chainrule("import out.arpa --out runs/x")
    peer = kenlm.Model(str(place / "out.arpa"))
    expected = [peer.score(text) for text in sentences]
    for run in ("runs/ptb5", "runs/x"):
        rows = json.loads(chainrule(f"score {run} sentences.txt --json"))["lines"]
        assert [row["log_prob"] / math.log(10) for row in rows] == pytest.approx(expected, abs=1e-4)


def test_pruning_leaves_out_rare_trigrams_and_costs_little(chainrule):
    sizes, perplexities = {}, {}
    for name, option in {"whole": "[0]", "pruned": "[0,0,1]"}.items():
        report = json.loads(chainrule(f"train ngram --data ../shared/data/ptb/ptb.train.txt.gz --out runs/{name} "
                                      f"model.order=3 model.prune='{option}' --json"))
        found = json.loads(chainrule(f"evaluate runs/{name} --data ../shared/data/ptb/ptb.test.txt.gz --json"))
        sizes[name], perplexities[name] = report["ngrams"], found["perplexity"]
    assert sizes["whole"][:2] == sizes["pruned"][:2] and sizes["pruned"][2] < sizes["whole"][2] / 4
    assert perplexities["whole"] == pytest.approx(148.2815, abs=1e-3)
    assert perplexities["whole"] < perplexities["pruned"] < 1.1 * perplexities["whole"]


def test_cows_eat_what_they_ate_in_the_eleven_sentences(chainrule, place):
    chainrule("train ngram --data ../shared/reference/kenlm/cows.txt --out runs/cows model.order=3 "
              "model.smoothing=maximum_likelihood")
    expected = {"corn": 4 / 11, "grass": 3 / 11, "hay": 2 / 11, "if": 1 / 11, "which": 1 / 11}
    (place / "cows.txt").write_text("".join(f"cows eat {word}\n" for word in expected))
    rows = json.loads(chainrule("score runs/cows cows.txt --tokens --json"))["lines"]
    found = {row["token_log_probs"][2][0]: math.exp(row["token_log_probs"][2][1]) for row in rows}
    assert found == pytest.approx(expected, abs=1e-6)
