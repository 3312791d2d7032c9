"""Maps of word vectors: PCA by the definition, t-SNE keeps neighbors, and what the command says."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import chainrule
from chainrule.cli.app import main
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.inspection.wordmap import Colors, pca, tsne, word_map


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    rng = np.random.default_rng(0)
    kinds = [[f"beast{n}" for n in range(12)], [f"tool{n}" for n in range(12)]]
    lines = [" ".join(rng.choice(kinds[rng.integers(2)], 6)) for _ in range(1500)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    chainrule.train("skipgram", folder / "text.txt", folder / "run",
                    overrides=["model.dimension=12", "training.threads=1", "training.sample=0"])
    return chainrule.load(folder / "run")


def test_pca_is_the_best_plane():
    """The sum of squares off the plane is the sum of the smaller eigenvalues; coordinates are uncorrelated."""
    points = np.random.default_rng(1).normal(size=(50, 7)) @ np.diag([5, 3, 1, 1, 1, 0.5, 0.1])
    flat, share = pca(points, 2)
    centered = points - points.mean(0)
    singular = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose((flat**2).sum(0), singular[:2] ** 2)
    assert abs(flat[:, 0] @ flat[:, 1]) < 1e-8
    assert share == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
    np.testing.assert_array_equal(pca(points, 2)[0], flat)


def test_pca_of_points_that_are_alike_or_on_a_line():
    flat, share = pca(np.ones((4, 3)), 2)
    assert not flat.any() and share == 1.0
    assert pca(np.arange(4.0)[:, None], 2)[0].shape == (4, 2)


def test_tsne_keeps_groups_together():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(30, 60)) + 8 * np.eye(60)[n] for n in range(3)])
    places = tsne(points, pca(points, 2)[0])
    gaps = ((places[:, None] - places[None]) ** 2).sum(-1) + np.diag(np.full(90, np.inf))
    assert (gaps.argmin(1) // 30 == np.arange(90) // 30).mean() > 0.95


def test_a_map_has_the_frequent_words_and_their_neighbors(run):
    found = word_map(run, words=20, method="pca", near=4)
    assert found["words"] == list(run.vectors.words[:20]) and found["of"] == 24 and found["method"] == "pca"
    assert len(found["maps"]) == 1 and np.shape(found["maps"][0]["places"]) == (20, 2)
    asked = run.vectors.most_similar(found["words"][0], topn=23, restrict_vocab=20)[:4]
    assert [found["words"][n] for n in found["near"][0]] == [word for word, _ in asked]
    assert found["cosines"][0] == pytest.approx([cosine for _, cosine in asked], abs=1e-3)


def test_the_default_method_depends_on_what_is_installed(run, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert word_map(run)["method"] == "pca"
    with pytest.raises(OptionError, match=r"--method = 'tsne', expected pca. t-SNE comes from scikit-learn.*\[maps\]"):
        word_map(run, method="tsne")
    with pytest.raises(OptionError, match="--method = 'umap', expected pca or tsne"):
        word_map(run, method="umap")


def test_too_few_words_and_other_models_are_one_line(run, tmp_path):
    with pytest.raises(DataError, match="2 words, expected at least 3 for a map"):
        word_map(run, words=2)
    (tmp_path / "text.txt").write_text("a b c\n")
    chainrule.train("ngram", tmp_path / "text.txt", tmp_path / "ngram", overrides=["model.order=2"])
    with pytest.raises(UsageError, match="holds a language model; inspect --map needs word vectors"):
        word_map(tmp_path / "ngram")


def said(capsys, *args):
    with pytest.raises(SystemExit) as ended:
        main(["inspect", *map(str, args)])
    found = capsys.readouterr()
    return ended.value.code, found.out, found.err


def test_the_command_prints_json_without_a_page(run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = said(capsys, run.path, "--map", "--method", "pca", "--words", 10, "--json")
    assert code == 0 and len(json.loads(out)["words"]) == 10 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("args", "message"), [
    (["--map", "--text", "pydoc"], "--text = pydoc does nothing with --map."),
    (["--words", "5", "--text", "pydoc"], "--words = 5 does nothing without --map."),
    (["--map", "--out", "map.pdf"], "--out = 'map.pdf', expected a name that ends in .html, .svg or .png."),
    (["--map", "--words", "0"], "--words = '0', expected a number from 1 or words such as king,queen."),
    (["--map", "--words", ","], "--words = ',', expected a number from 1 or words"),
    (["--map", "--clusters", "9"], "--clusters = 9, expected 0 to 8. A map has no more colors."),
    (["--map", "--clusters", "3", "--labels", "x"], "--labels and --clusters are both given, expected one of them"),
    (["--labels", "x", "--text", "pydoc"], "--labels = x does nothing without --map."),
    (["other", "--map"], "2 words follow inspect, expected one run"),
])
def test_options_that_do_nothing_are_refused(run, capsys, args, message):
    code, out, err = said(capsys, run.path, *args)
    assert code == 2 and not out and message in err and err.count("\n") == 1


def test_a_page_that_cannot_be_drawn_is_reported_before_words_are_placed(run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chainrule.pages.page.files", lambda package: tmp_path)
    monkeypatch.setattr("chainrule.inspection.wordmap.word_map", lambda *given, **how: pytest.fail("words were placed"))
    code, _, err = said(capsys, run.path, "--map")
    assert code == 1 and "the scripts of the pages are not built" in err


def test_chosen_words_are_mapped_with_their_nearest(run, capsys, tmp_path):
    found = word_map(run, words=["beast3", "tool1"], method="pca", near=4)
    nearest = {other for word in ("beast3", "tool1") for other, _ in run.vectors.most_similar(word, topn=4)}
    assert found["words"][:2] == ["beast3", "tool1"] and found["strong"] == [0, 1]
    assert set(found["words"]) == {"beast3", "tool1"} | nearest and len(found["words"]) == len(set(found["words"]))
    code, _, err = said(capsys, run.path, "--map", "--words", "beast3,beest4", "--method", "pca", "--json")
    assert code == 1 and "beest4: none of the 24 words that have a vector. Did you mean 'beast4'?" in err


def test_clusters_find_the_two_kinds_of_words(run):
    found = word_map(run, words=24, method="pca", colors=Colors(clusters=2))
    kinds = {group: {word[:4] for word, own in zip(found["words"], found["groups"]["of"], strict=True) if own == group}
             for group in (0, 1)}
    assert sorted(map(sorted, kinds.values())) == [["beas"], ["tool"]]
    assert word_map(run, words=24, method="pca", colors=Colors(clusters=0))["groups"] is None
    assert word_map(run, words=24, method="pca")["groups"] == found["groups"], "two clusters are enough for 24 words"


def test_labels_of_a_file_color_the_map(run, tmp_path, capsys):
    (tmp_path / "labels.tsv").write_text("beast1\tanimal\nbeast2\tanimal\ntool1\tthing\nabsent\tthing\n")
    found = word_map(run, words=24, method="pca", colors=Colors(tmp_path / "labels.tsv"))
    groups = dict(zip(found["words"], found["groups"]["of"], strict=True))
    assert found["groups"]["names"] == ["animal (2)", "thing (1)"]
    assert "21 words have no label" in found["groups"]["said"]
    assert (groups["beast2"], groups["tool1"], groups["tool2"]) == (0, 1, -1)
    assert {found["words"][n] for n in found["first"][:3]} == {"beast1", "beast2", "tool1"}
    (tmp_path / "bad.tsv").write_text("beast1\tanimal\nbeast2 animal\n")
    code, _, err = said(capsys, run.path, "--map", "--labels", tmp_path / "bad.tsv", "--json")
    assert code == 1 and "bad.tsv, line 2: 'beast2 animal', expected a word, a tab and its label." in err
    (tmp_path / "other.tsv").write_text("cow\tanimal\n")
    code, _, err = said(capsys, run.path, "--map", "--labels", tmp_path / "other.tsv", "--json")
    assert code == 2 and "none of its 1 words is on the map" in err


def test_the_command_draws_a_map_as_a_figure(run, capsys, tmp_path):
    code, out, err = said(capsys, run.path, "--map", "--method", "pca", "--words", 20, "--out", tmp_path / "map.svg")
    assert code == 0 and "20 of 24 words" in out and "clusters of the vectors by k-means" in out and "wrote" in err
    tree = ElementTree.parse(tmp_path / "map.svg")
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}circle"))) == 20 + 2  # and the legend
    assert set(run.vectors.words[:20]) & {node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")}
