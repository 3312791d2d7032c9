"""The `kenlm` module reads what we write and scores sentences as we do."""

import gzip
from pathlib import Path

import kenlm
import numpy as np
import pytest

from chainrule.counting.arpa.read import read_arpa
from chainrule.counting.arpa.write import write_arpa
from chainrule.counting.count import count
from chainrule.counting.entropy_pruning import prune_by_entropy
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.recipe.registry import build
from chainrule.verbs.export import export
from chainrule.verbs.train import train

PTB = Path(__file__).parents[4] / "shared" / "data" / "ptb"
UNKNOWN, START, END, SIZE, ORDER = 0, 1, 2, 307, 4
ZERO = -50  # log10 of what is as good as impossible: −99 in the file, −∞ here
WORDS = ["<unk>", "<s>", "</s>", *(f"{'é' * (i % 3)}wörd\u00a0{i}" for i in range(3, SIZE))]


def zipf_units(tokens, seed):
    draw = np.random.default_rng(seed)
    ids = np.minimum(draw.zipf(1.3, tokens) + 2, SIZE - 1)
    ids[draw.random(tokens) < 0.1] = END
    ids[-1] = END
    return ids.astype(np.int32)


def table_of(method="modified_kneser_ney", prune=(0,)):
    counts = count(zipf_units(12_000, 0), ORDER, SIZE, start=START, end=END)
    return estimate(counts, build("counting/smoothing", method), Marks(START, END, UNKNOWN, True), prune=list(prune),
                    scratch=Scratch(), say=print)


TABLES = {
    "modified Kneser-Ney": table_of,
    "pruned by count": lambda: table_of(prune=(0, 0, 1)),
    "pruned by entropy": lambda: prune_by_entropy(table_of(), 1e-5),
    "Witten-Bell": lambda: table_of("witten_bell"),
    "back-off": lambda: table_of("good_turing"),
    "shortened to order 2": lambda: NGram(table_of()).shortened(1).table,
    "maximum likelihood": lambda: table_of("maximum_likelihood"),
    "compact": lambda: table_of().compact(),
}


def sentences(number, seed=1):
    ids = zipf_units(12 * number, seed)
    ids[(np.arange(len(ids)) % 29 == 0) & (ids != END)] = UNKNOWN
    units = np.split(ids, np.flatnonzero(ids == END) + 1)
    return [unit[:-1] for unit in units if len(unit) > 1][:number]


@pytest.mark.parametrize("suffix", [".arpa", ".arpa.gz"])
@pytest.mark.parametrize("name", TABLES)
def test_kenlm_scores_a_thousand_sentences_as_we_do(name, suffix, tmp_path):
    table = TABLES[name]()
    path = tmp_path / f"model{suffix}"
    write_arpa(table, WORDS, path)
    peer, model = kenlm.Model(str(path)), NGram(table)
    for ids in sentences(1000):
        text = " ".join(WORDS[i] if i != UNKNOWN else "never-seen" for i in ids)
        ours = model.score(np.array([[*ids, END]]))[0] / np.log(10)
        theirs = [log10 for log10, _, _ in peer.full_scores(text)]
        np.testing.assert_allclose(np.maximum(theirs, ZERO), np.maximum(ours, ZERO), atol=1e-4)


def test_text_with_its_own_unk_means_the_same_to_kenlm(tmp_path):
    table = table_of()
    words = ["<unknown>", *WORDS[1:3], "<unk>", *WORDS[4:]]
    write_arpa(table, words, tmp_path / "model.arpa")
    peer, model = kenlm.Model(str(tmp_path / "model.arpa")), NGram(table)
    for ids in sentences(100):
        known = ids[ids != UNKNOWN]
        theirs = peer.score(" ".join(words[i] for i in known))
        assert theirs == pytest.approx(model.score(np.array([[*known, END]])).sum() / np.log(10), abs=1e-3)


def test_tokens_of_text_that_are_spelled_like_marks_do_not_disturb_kenlm(tmp_path):
    table = table_of()
    words = ["<unk>", "⟨s⟩", "⟨/s⟩", "<s>", "</s>", "<UNK>", *WORDS[6:]]
    write_arpa(table, words, tmp_path / "model.arpa")
    peer, model = kenlm.Model(str(tmp_path / "model.arpa")), NGram(table)
    respelled = words[:3] + ["⟨s⟩", "⟨/s⟩", "⟨UNK⟩"] + words[6:]
    for ids in sentences(100):
        theirs = peer.score(" ".join(respelled[i] for i in ids))
        assert theirs == pytest.approx(model.score(np.array([[*ids, END]])).sum() / np.log(10), abs=1e-3)


def test_an_order_longer_than_the_text_is_an_empty_section_that_kenlm_reads(tmp_path):
    counts = count(np.array([3, 4, END], np.int32), 5, 5, start=START, end=END)
    method = build("counting/smoothing", "modified_kneser_ney")
    table = estimate(counts, method, Marks(START, END, UNKNOWN, True), prune=[0], scratch=Scratch(), say=print)
    assert write_arpa(table, WORDS[:5], tmp_path / "model.arpa") == [5, 3, 2, 1, 0]
    ours = NGram(read_arpa(tmp_path / "model.arpa")[0]).score(np.array([[3, 4, END]])).sum() / np.log(10)
    assert kenlm.Model(str(tmp_path / "model.arpa")).score(" ".join(WORDS[3:5])) == pytest.approx(ours, abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not PTB.exists(), reason="the Penn Treebank is not beside this checkout")
def test_kenlm_finds_the_literatures_perplexity_on_the_penn_treebank(tmp_path):
    """The "KN5 141.2" of the papers on this data, and what lmplz's own model has; </s> is counted."""
    train("ngram", PTB / "ptb.train.txt.gz", tmp_path / "run", overrides=["model.order=5", "tokenizer.name=words"])
    export(tmp_path / "run", "arpa", tmp_path / "model.arpa")
    peer = kenlm.Model(str(tmp_path / "model.arpa"))
    lines = gzip.decompress((PTB / "ptb.test.txt.gz").read_bytes()).decode().splitlines()
    tokens = sum(len(line.split()) + 1 for line in lines)
    assert tokens == 82_430
    assert 10 ** (-sum(map(peer.score, lines)) / tokens) == pytest.approx(141.1862, abs=1e-3)
