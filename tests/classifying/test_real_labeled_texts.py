"""On real news and reviews: the accuracy of fastText, and less than a megabyte after quantization."""

import gzip
import lzma
from pathlib import Path

import pytest

import chainrule

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = {"agnews-10k": (gzip.open, "tsv.gz", 0.5), "imdb": (lzma.open, "tsv.xz", 0.1)}


@pytest.mark.slow
@pytest.mark.parametrize("ngrams", [1, 2])
@pytest.mark.parametrize("name", SETS)
def test_the_accuracy_is_that_of_fasttext(name, ngrams, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    opened, ending, lr = SETS[name]
    if not (DATA / name).is_dir():
        pytest.skip("needs the public data sets in ../shared/data")
    for part in ("train", "test"):
        with opened(DATA / name / f"{part}.{ending}", "rt", encoding="utf-8") as rows:
            text = "".join("__label__" + row.replace("\t", " ", 1) for row in rows)
        (tmp_path / f"{part}.txt").write_text(text, encoding="utf-8")
    peer = fasttext.train_supervised(str(tmp_path / "train.txt"), lr=lr, wordNgrams=ngrams, thread=2, verbose=0)
    chainrule.train("text-classifier", tmp_path / "train.txt", tmp_path / "run",
                    overrides=[f"training.lr={lr}", f"model.word_ngrams={ngrams}"])
    accuracy = chainrule.evaluate(tmp_path / "run", tmp_path / "test.txt")["accuracy"]
    assert accuracy > peer.test(str(tmp_path / "test.txt"))[1] - 0.006  # two orders of one file differ by as much
    done = chainrule.quantize(tmp_path / "run", tmp_path / "small", cutoff=10_000)
    assert done["bytes"] < 1e6
    small = chainrule.evaluate(tmp_path / "small", tmp_path / "test.txt")["accuracy"]
    assert small > accuracy - 0.02
    chainrule.export(tmp_path / "small", "fasttext", tmp_path / "small.ftz")
    assert fasttext.load_model(str(tmp_path / "small.ftz")).test(str(tmp_path / "test.txt"))[1] == pytest.approx(small)
    peer.quantize(input=str(tmp_path / "train.txt"), cutoff=10_000, qnorm=True, verbose=0)
    peer.save_model(str(tmp_path / "peer.ftz"))
    chainrule.import_model(tmp_path / "peer.ftz", tmp_path / "peer")
    found = chainrule.evaluate(tmp_path / "peer", tmp_path / "test.txt")["accuracy"]
    assert found == pytest.approx(peer.test(str(tmp_path / "test.txt"))[1], abs=1e-4)
