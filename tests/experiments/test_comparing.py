"""Whole comparisons with real processes: what the report says, what is done again, and what one failure costs."""

import json
import math
import os
import random
from pathlib import Path

import pytest

import chainrule
from chainrule.errors import StorageError, UsageError
from chainrule.experiments.compare import compare
from chainrule.experiments.terms import Terms

IMPOSSIBLE = ["ngram", "model.smoothing=maximum_likelihood"]


@pytest.fixture(scope="module")
def compared(corpus, neural, tmp_path_factory):
    """Two counts, one small network and one model that gives no number."""
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        words = ["ngram", "ngram", "model.order=2", str(neural), *IMPOSSIBLE]
        report = compare(words, corpus, folder / "report", budget="3ktok", terms=Terms(seeds=2))
    return words, folder / "report", report


def rows(report, kind="model"):
    return {row["name"]: row for row in report["rows"] if row["kind"] == kind}


def test_every_row_has_its_numbers(compared):
    _, out, report = compared
    found = rows(report)
    assert list(found)[-1] == "ngram smoothing=maximum_likelihood"
    assert [row["status"] for row in found.values()] == ["ok", "ok", "ok", "failed"]
    bits = [row["bits_per_byte"] for row in found.values()][:3]
    assert bits == sorted(bits) and all(0.2 < each < 9 for each in bits)
    for name in ("ngram", "ngram order=2", "small"):
        row = found[name]
        assert row["interval"][0] < row["bits_per_byte"] < row["interval"][1] and row["comparable"]
        assert row["parameters"] > 50 and row["tokens"] > 1000 and row["disk_bytes"] > 1000 and row["perplexity"] > 1
        assert all(value > 0 for value in row["measured"].values())
        assert (out / row["run"] / "MANIFEST.json").exists()
    assert found["small"]["flops"] > 0 and found["small"]["steps"] == 47 and found["ngram"]["flops"] is None
    assert found["ngram"]["measured"]["peak_memory"] > 30 << 20


def test_the_numbers_are_those_that_evaluate_gives_on_the_same_text(compared, corpus):
    _, out, report = compared
    from chainrule.experiments.holdout import source, texts
    from chainrule.text.options import TextOptions

    held_out = texts(source(corpus, None, TextOptions(), 0.0, 0)[0].halves()[1])
    for number, text in enumerate(held_out):
        (out.parent / "held").mkdir(exist_ok=True)
        (out.parent / "held" / f"{number:03}.txt").write_bytes(text)
    for row in rows(report).values():
        if row["status"] == "ok":
            found = chainrule.evaluate(out / row["run"], out.parent / "held", bootstrap=0)
            assert row["seeds"][0]["bits_per_byte"] == pytest.approx(found["bits_per_byte"], rel=1e-6)


def test_seeds_are_averaged_and_counts_made_once(compared):
    _, _, report = compared
    small, ngram = rows(report)["small"], rows(report)["ngram"]
    assert [each["seed"] for each in small["seeds"]] == [0, 1] and small["run"] == "runs/small-seed0"
    each = [seed["bits_per_byte"] for seed in small["seeds"]]
    assert each[0] != each[1] and small["bits_per_byte"] == pytest.approx(sum(each) / 2)
    assert small["spread"] == pytest.approx(abs(each[0] - each[1]) / 2**0.5)
    assert len(ngram["seeds"]) == 1 and ngram["spread"] is None
    assert any("does not depend on the seed, so it was trained once" in note for note in report["notes"])


def test_a_model_that_gives_no_number_is_one_row(compared):
    _, _, report = compared
    row = rows(report)["ngram smoothing=maximum_likelihood"]
    assert "held-out tokens impossible" in row["why"]
    assert row["bits_per_byte"] is None and row["interval"] is None


def test_a_recipe_that_cannot_be_read_is_refused_before_the_first_training(corpus, neural, tmp_path):
    (tmp_path / "broken.yaml").write_text("family: ngram\ntokenizer: bytes\nmodel: {ordr: 3}\n")
    with pytest.raises(UsageError, match="broken: .*line 3: no option model.ordr. Did you mean 'order'?"):
        compare(["ngram", str(tmp_path / "broken.yaml")], corpus, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_compressors_and_the_mixture_are_rows(compared):
    _, _, report = compared
    assert list(rows(report, "compressor")) == ["zlib", "bz2", "xz"]
    mixed = rows(report, "mixture")["mixture of all"]
    assert report["rows"][-1] == mixed and sum(mixed["weights"].values()) == pytest.approx(1, abs=1e-3)
    assert mixed["bits_per_byte"] < rows(report)[report["best"]]["bits_per_byte"] * 1.02
    assert len(report["pairs"]) == 6  # three models and the mixture


def test_the_best_is_one_command_from_use(compared):
    _, out, report = compared
    assert (out / "best").is_symlink() and os.readlink(out / "best") == rows(report)[report["best"]]["run"]
    assert chainrule.generate(out / "best", "The", max_tokens=5)[0].ids


def test_the_details_are_what_the_page_draws(compared):
    _, out, report = compared
    details = json.loads((out / "details.json").read_text(encoding="utf-8"))
    names = {"ngram", "ngram order=2", "small"}
    assert set(details["curves"]) == names and len(details["curves"]["ngram"]) == 1
    assert len(details["curves"]["small"]) >= 5
    assert all(set(details[each]["values"]) == names for each in ("by_position", "by_frequency", "by_document"))
    text = details["text"]
    assert set(text["models"]) == names
    for document in text["documents"]:
        for segment in document["segments"]:
            assert len(segment["bits"]) == 3 == len(segment["top"])
            assert all(len(top) == 5 and 0 <= top[0][1] <= 1 and top[0][1] >= top[4][1] for top in segment["top"])
    assert {name for sample in details["samples"] for name in sample["texts"]} == names
    assert set(details["recipes"]) == names and "family: neural" in details["recipes"]["small"]


def test_segments_put_together_are_the_text_and_their_bits_its_bits(compared, corpus):
    _, out, _ = compared
    details = json.loads((out / "details.json").read_text(encoding="utf-8"))
    whole = {path.read_text(encoding="utf-8") for path in Path(corpus).iterdir()}
    for document in details["text"]["documents"]:
        shown = "".join(segment["text"] for segment in document["segments"])
        assert len(shown) > 20 and any(text.startswith(shown) for text in whole)


def test_finished_trials_are_not_repeated_and_give_the_same_report(compared, corpus, caplog):
    words, out, report = compared
    before = {path: path.stat().st_mtime_ns for path in out.rglob("model.safetensors")}
    caplog.set_level("INFO", "chainrule")
    again = compare(words, corpus, out, budget="3ktok", terms=Terms(seeds=2))
    assert again == report == json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert {path: path.stat().st_mtime_ns for path in out.rglob("model.safetensors")} == before
    assert sum("already finished" in record.message for record in caplog.records) == 5


def test_the_same_seeds_give_the_same_report_apart_from_times(compared, corpus, tmp_path):
    words, _, report = compared
    again = compare(words, corpus, tmp_path / "again", budget="3ktok", terms=Terms(seeds=2))

    def timeless(found):
        plain = {**found, "advice": None, "command": None}
        plain["rows"] = [{**row, "measured": None} for row in found["rows"]]
        return plain

    assert timeless(again) == timeless(report)


def test_another_comparison_in_the_same_place_is_refused(compared, corpus):
    words, out, _ = compared
    with pytest.raises(UsageError, match=r"(?s)holds another comparison:.*budget.tokens: 3000.0 → None.*--force"):
        compare(words, corpus, out, budget="9s", terms=Terms(seeds=2))
    with pytest.raises(UsageError, match=r"another comparison:\nrecipes: .* → ngram\nGive the same command"):
        compare(["ngram"], corpus, out, budget="3ktok", terms=Terms(seeds=2))


def test_another_comparison_in_the_same_place_is_made_if_forced(corpus, tmp_path):
    order = ["ngram-bytes", "model.order=2"]
    compare(order, corpus, tmp_path / "report")
    with pytest.raises(UsageError, match="holds another comparison:"):
        compare(["ngram-bytes"], corpus, tmp_path / "report")
    report = compare(["ngram-bytes"], corpus, tmp_path / "report", force=True)
    assert list(rows(report)) == ["ngram-bytes"]
    assert os.readlink(tmp_path / "report" / "best") == rows(report)["ngram-bytes"]["run"]


def test_a_folder_of_something_else_is_left_alone(corpus, tmp_path):
    (tmp_path / "precious.txt").write_text("keep me")
    with pytest.raises(StorageError, match="exists and is not a comparison, so it is left alone"):
        compare(["ngram"], corpus, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_each_training_reports_its_own_peak_memory(corpus, tmp_path):
    ballast = bytearray(b"x") * (600 << 20)  # what the parent holds is not the child's
    report = compare(["ngram"], corpus, tmp_path / "report")
    assert 30 << 20 < rows(report)["ngram"]["measured"]["peak_memory"] < 400 << 20 < len(ballast)


def chinese(path, lines, seed=0):
    """Sentences of a small grammar in Chinese, without spaces; a few characters are seen once only."""
    chance, rare = random.Random(seed), [chr(0x4E00 + 37 * i) for i in range(200)]
    who, what, how = ["我", "你", "老师", "学生"], ["喜欢", "看见", "学习", "听说"], ["书", "山", "水", "音乐"]
    path.write_text("".join(f"{chance.choice(who)}{chance.choice(what)}{chance.choice(how)}"
                            f"{chance.choice(rare) if chance.random() < 0.1 else ''}。\n" for _ in range(lines)),
                    encoding="utf-8")
    return path


def test_models_over_the_same_lossy_tokens_are_ranked_by_perplexity(tmp_path):
    text = chinese(tmp_path / "text.txt", 3000)
    report = compare(["ngram", "model.order=1", "ngram"], text, tmp_path / "report",
                     terms=Terms(tokenizer="characters"))
    found = rows(report)
    assert not any(row["comparable"] for row in found.values()) and report["ranked_by"] == "perplexity"
    assert list(found) == ["ngram", "ngram order=1"] and report["best"] == "ngram"
    assert os.readlink(tmp_path / "report" / "best") == found["ngram"]["run"]
    pair, = report["pairs"]
    gap = math.log2(found["ngram"]["perplexity"] / found["ngram order=1"]["perplexity"])
    assert pair["difference"] == pytest.approx(gap) and pair["significant"] and pair["high"] < 0
    for row in found.values():
        assert 1 <= row["perplexity_interval"][0] < row["perplexity"] < row["perplexity_interval"][1]
    assert report["advice"][0].startswith("If quality matters most, take ngram: perplexity ")
    assert any("have the same" in note and "compare by perplexity" in note for note in report["notes"])


def test_words_of_a_text_without_spaces_are_noted(tmp_path):
    text = chinese(tmp_path / "text.txt", 300)
    report = compare(["ngram"], text, tmp_path / "report", terms=Terms(tokenizer="own"))
    assert any("without spaces between words, and the tokenizer 'words' takes what stands between spaces for a word. "
               "--tokenizer characters_and_bytes does not." in note for note in report["notes"])
    assert report["best"] == "ngram" and (tmp_path / "report" / "best").exists()


def test_characters_with_bytes_compare_by_bits_per_byte(tmp_path):
    text = chinese(tmp_path / "text.txt", 3000)
    report = compare(["ngram", "ngram", "model.order=1"], text, tmp_path / "report",
                     terms=Terms(tokenizer="characters_and_bytes"))
    assert all(row["comparable"] for row in report["rows"]) and report["ranked_by"] == "bits_per_byte"
    assert rows(report)["ngram"]["bits_per_byte"] < rows(report)["ngram order=1"]["bits_per_byte"]


def test_models_whose_tokens_lose_text_in_different_ways_have_no_best(corpus, tmp_path):
    report = compare(["ngram", "tokenizer.size=12", "ngram", "tokenizer.size=9"], corpus, tmp_path / "own",
                     terms=Terms(tokenizer="own"))
    assert report["best"] is None and not (tmp_path / "own" / "best").exists() and report["pairs"] == []
    assert "their tokens differ and lose text" in report["advice"][0]
    page = tmp_path / "own" / "report.html"
    assert not page.exists() or "own/best" not in page.read_text(encoding="utf-8")


def test_prompts_of_which_a_model_makes_nothing_are_continued_differently(tmp_path):
    """An n-gram that never saw the words of a prompt continues from nothing: with one seed, with the same text."""
    lines = [f"{a} {b} {c}" for a in ("red", "blue", "old") for b in ("cat", "dog", "cow") for c in ("runs", "sits")]
    (tmp_path / "text.txt").write_text("\n".join(lines * 30) + "\n")
    (tmp_path / "valid.txt").write_text("".join(f"{w} {w} {w} {w}\n" for w in ("xx", "yy", "zz")))
    compare(["ngram"], tmp_path / "text.txt", tmp_path / "report", terms=Terms(
        tokenizer="words", valid=tmp_path / "valid.txt"))
    samples = json.loads((tmp_path / "report" / "details.json").read_text(encoding="utf-8"))["samples"]
    texts = [sample["texts"]["ngram"][0] for sample in samples]
    assert len(texts) == 3 == len(set(texts))


def test_tokens_that_lose_text_are_marked(corpus, tmp_path):
    report = compare(["ngram", "ngram-bytes"], corpus, tmp_path / "own", terms=Terms(tokenizer="own"))
    found = rows(report)
    assert not found["ngram"]["comparable"] and found["ngram-bytes"]["comparable"]
    assert report["best"] == "ngram-bytes" and list(found) == ["ngram-bytes", "ngram"] and report["pairs"] == []
    assert any("ngram: the tokenizer loses text" in note for note in report["notes"])


def test_models_with_tokens_of_their_own_are_compared_on_the_text(corpus, tmp_path):
    report = compare(["ngram-bpe", "tokenizer.size=300", "ngram-bytes"], corpus, tmp_path / "own",
                     terms=Terms(tokenizer="own"))
    assert [(pair["a"], pair["b"]) for pair in report["pairs"]] and report["tokenizer"] == "own"
    assert any("different tokens" in note for note in report["notes"]) and not rows(report, "mixture")
    details = json.loads((tmp_path / "own" / "details.json").read_text(encoding="utf-8"))
    assert details["text"]["documents"][0]["segments"]


WORDS = ["the", "of", "and", "cat", "sees", "bird", "while", "it", "rains", "on", "every", "second", "hill", "house"]
CHANCE = random.Random(0)


@pytest.mark.parametrize("text", ["one line of some ten words that end here and there",
                                  " ".join(CHANCE.choice(WORDS) for _ in range(200))])
def test_a_very_short_text_gets_an_answer_and_a_warning(text, tmp_path):
    (tmp_path / "text.txt").write_text(text)
    report = compare(["ngram", "ngram", "model.order=2"], tmp_path / "text.txt", tmp_path / "report")
    assert all(row["bits_per_byte"] > 0 for row in report["rows"])
    assert any("So little text" in note for note in report["notes"])
    assert all(row["interval"] is None or row["interval"][1] - row["interval"][0] > 0.2
               for row in rows(report).values())
    assert any("the shared tokenizer has" in note for note in report["notes"])


@pytest.mark.slow
def test_a_budget_of_seconds_is_kept(tmp_path):
    """Within 3 % and 2 s for each training, on recipes as they are shipped."""
    report = compare(["lstm", "transformer", "gated-conv"], "pydoc", tmp_path / "report", budget="15s")
    for row in rows(report).values():
        assert abs(row["measured"]["training_seconds"] - 15) < 0.03 * 15 + 2, row["name"]


@pytest.mark.slow
def test_a_large_text_is_compared_in_little_time_beyond_its_training(tmp_path):
    """30 MB: eight hundred thousand bytes and more are held out, and nothing is held in memory twice."""
    report = compare(["ngram", "ngram", "model.order=3"], "stdlib", tmp_path / "report")
    assert report["units"] == "documents" and report["data"]["train_bytes"] > 15e6
    assert all(pair["significant"] for pair in report["pairs"]) and rows(report)["ngram"]["bits_per_byte"] < 2
