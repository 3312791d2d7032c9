"""`chainrule train` with neural recipes: every verb works on the run, and a stopped training goes on byte for byte."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from chainrule.cli.app import main

ROOT = Path(__file__).parents[2]
SMALL = ["tokenizer=bytes", "model.width=8", "model.context=8", "training.batch=4", "split.valid=0.1",
         "training.optimizer=adamw"]
SHAPES = {"transformer": ["model.s.heads=2", "model.dropout.rate=0.1"], "lstm": ["model.dropout.rate=0.1"]}
SAME = ["model.safetensors", "metrics.jsonl", "recipe.yaml", "tokenizer.json"]


def command(*args):
    return [sys.executable, "-m", "chainrule", *map(str, args)]


def environment(folder):
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1"}


def run(*args, code=0):
    """A command in this process, which has torch loaded: what it printed and what it said."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors, \
            pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    assert end.value.code == code, errors.getvalue()
    return out.getvalue(), errors.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("neural")
    chance, words = random.Random(0), ["cat", "dog", "mat", "sat", "the", "on", "naïve"]
    text = "".join(" ".join(chance.choices(words, k=8)) + "\n" for _ in range(60))
    (made / "text.txt").write_text(text, encoding="utf-8")
    return made


def training(folder, recipe, out, *more):
    return ["train", recipe, "--data", folder / "text.txt", "--out", folder / out, *SMALL, *SHAPES[recipe], *more]


@pytest.fixture(scope="module")
def trained(folder):
    """An uninterrupted run of each recipe."""
    steps = "training.budget.steps=40"
    return {recipe: (folder / recipe, *run(*training(folder, recipe, recipe, steps, "--json"))) for recipe in SHAPES}


def called(capsys, *args):
    """A command in this process, which has torch loaded: exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return end.value.code, *capsys.readouterr()


@pytest.mark.parametrize("recipe", SHAPES)
def test_the_verbs_work_on_a_neural_run(trained, folder, recipe, capsys):
    path, printed, _ = trained[recipe]
    report = json.loads(printed)
    assert report["steps"] == 40 and report["tokens"] == 40 * 4 * 8 and report["parameters"] > 1000
    assert report["best"]["bits_per_byte"] > 0 and report["peak_memory"] > 0 and report["tokens_per_second"] > 0
    code, found, _ = called(capsys, "evaluate", path, "--data", folder / "text.txt", "--json")
    assert code == 0 and json.loads(found)["bits_per_byte_comparable"] and 1 < json.loads(found)["bits_per_byte"] < 9
    one, two = (called(capsys, "generate", path, "--prompt", "the ☕", "--max-tokens", 20, "--seed", 1) for _ in "ab")
    assert one == two and one[0] == 0
    code, lines, _ = called(capsys, "score", path, folder / "text.txt")
    assert code == 0 and len(lines.splitlines()) == 60
    assert called(capsys, "verify", path)[0] == 0


def test_a_forecast_is_printed_before_training_starts(trained):
    _, printed, said = trained["transformer"]
    parameters = json.loads(printed)["parameters"]
    first = next(line for line in said.splitlines() if "after" not in line)  # a slow machine says what it is at first
    assert first.startswith(f"chainrule: {parameters:,} parameters; 40 steps of 32 tokens, 1,280 in all (0.7 times the")
    assert " s and " in first and first.endswith(" MiB of memory on the CPU.")


def test_the_summary_is_printed_at_the_end(folder, capsys):
    _, said, _ = called(capsys, *training(folder, "transformer", "words", "training.budget.steps=11"))
    shown = {line[:15].strip(): line[15:].strip() for line in said.splitlines()}
    assert shown["trained on"].startswith("352 tokens in 11 steps, 0.187 times the text; ")
    assert shown["training loss"].endswith("bits per byte (mean of the last steps)")
    assert shown["validation"].startswith("perplexity ") and shown["kept"].startswith("the model of step 11, the ")
    assert shown["time"].endswith(" in all") and shown["speed"].endswith(" tokens/s")
    assert shown["memory"].endswith("iB at most") and "skipped" not in shown
    _, said, _ = called(capsys, *training(folder, "lstm", "nothing", "training.budget.steps=3", "split.valid=0"))
    shown = {line[:15].strip(): line[15:].strip() for line in said.splitlines()}
    assert shown["validation"] == "none: there was no validation text (--valid SPEC, or split.valid=0.1)"
    assert "nats per token" in shown["training loss"] and shown["kept"] == "the model of step 3, the last"


def test_the_report_has_what_comparisons_need(trained):
    report = json.loads(trained["transformer"][1])
    assert report["flops"] > 1280 * 6 * 1000 and report["tokens"] == 1280 and report["kept"] == 40
    assert 0 < report["seconds"]["training"] <= report["seconds"]["total"]
    assert report["training"]["loss"] > 0 and report["training"]["bits_per_byte"] > 0 and report["advice"] == []


def test_the_run_folder_holds_the_curves_and_no_unfinished_state(trained, folder):
    path, _, said = trained["lstm"]
    rows = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[-1]["step"] == 40 and "valid_bits_per_byte" in rows[-1] and len(rows[-1]["samples"]) == 1
    assert "seconds" in json.loads((path / "timings.jsonl").read_text().splitlines()[0])
    assert not list(folder.glob(".lstm.training*"))
    assert "step 40: validation loss " in said and "step 40 writes: " in said


def stopped(folder, args, number, workspace):
    """Starts training and sends a signal when it has written a checkpoint; what it said."""
    known = {path.name for path in workspace.glob("step-*")}
    process = subprocess.Popen(command(*args), env=environment(folder), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    while process.poll() is None and {path.name for path in workspace.glob("step-*")} <= known:
        time.sleep(0.01)
    process.send_signal(number)
    return process.communicate(timeout=600)[1], process.returncode


@pytest.mark.parametrize(("recipe", "numbers"), [("transformer", [signal.SIGKILL, signal.SIGTERM]),
                                                 ("lstm", [signal.SIGINT, signal.SIGKILL])])
def test_a_stopped_training_goes_on_and_ends_byte_equal(folder, recipe, numbers):
    more = ["training.budget.steps=200", "training.save_every=0.2", "training.accumulation=2", "training.ema=0.9"]
    whole, cut = (training(folder, recipe, f"{recipe}-{name}", *more) for name in ("whole", "cut"))
    run(*whole)
    codes = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
    for number in numbers:
        said, code = stopped(folder, cut, number, folder / f".{recipe}-cut.training")
        assert code == codes[number] and "Traceback" not in said
        assert not (folder / f"{recipe}-cut").exists() and (folder / f".{recipe}-cut.training").is_dir()
        if number != signal.SIGKILL:
            assert "; the same command continues from there." in said
    assert "chainrule: resuming at step " in run(*cut)[1]
    for name in SAME:
        assert (folder / f"{recipe}-whole" / name).read_bytes() == (folder / f"{recipe}-cut" / name).read_bytes(), name
    assert not (folder / f".{recipe}-cut.training").exists()


def test_one_signal_ends_a_training_that_is_still_being_prepared(folder):
    """The forecast times a step, which here takes hours."""
    long = ["training.batch=1048576", "training.accumulation=65536", "training.budget.steps=1"]
    process = subprocess.Popen(command(*training(folder, "transformer", "long", *long)), env=environment(folder),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (folder / ".long.training").exists() and process.poll() is None:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 143 and "parameters;" not in said and "Traceback" not in said, said


@pytest.mark.parametrize(("option", "said"), [
    ("training.batch=1000000000000", "training.batch = 1000000000000, expected at most 16777216."),
    ("model.context=1000000000000", "model.context = 1000000000000, expected at most 16777216.")])
def test_sizes_that_no_training_can_have_are_refused(folder, option, said):
    _, errors = run(*training(folder, "transformer", "vast"), option, code=2)
    assert errors == f"chainrule: {said}\n"


def test_resuming_with_another_recipe_or_text_is_refused_and_the_difference_shown(folder):
    args = training(folder, "transformer", "other", "training.budget.steps=100000", "training.save_every=0.1")
    stopped(folder, args, signal.SIGINT, folder / ".other.training")
    _, refused = run(*args, "training.batch=5", "seed=7", code=2)
    assert "other.training: holds an unfinished training (at step " in refused
    assert "chainrule: seed: 0 → 7\nchainrule: training.batch: 4 → 5\n" in refused
    assert "Give the same command to continue it, or --force to start over." in refused
    (folder / "more.txt").write_text((folder / "text.txt").read_text(encoding="utf-8") + "dog\n", encoding="utf-8")
    changed = [folder / "more.txt" if each == folder / "text.txt" else each for each in args]
    _, refused = run(*changed, code=2)
    assert "chainrule: data: " in refused and "chainrule: valid data: " in refused
    _, anew = run(*args, "training.budget.steps=3", "--force")
    assert "starting over, since this changed: training.budget.steps: 100000 → 3." in anew


def test_shorter_contexts_of_a_neural_model_are_refused_with_what_to_try(trained, folder, capsys):
    code, _, said = called(capsys, "evaluate", trained["lstm"][0], "--data", folder / "text.txt", "--by-order")
    assert code == 2 and "a run of `chainrule train ngram`" in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("text", ["x", "x\n", "ab cd\n"])
@pytest.mark.parametrize("recipe", SHAPES)
def test_a_text_of_few_tokens_trains(recipe, text, tmp_path, capsys):
    (tmp_path / "text.txt").write_text(text)
    code, report, said = called(capsys, *training(tmp_path, recipe, "run", "split.valid=0", "training.budget.epochs=2",
                                                  "training.accumulation=3", "--json"))
    assert code == 0 and json.loads(report)["tokens"] >= 2 * len(text), said
    assert " far too little data for it. " in json.loads(report)["advice"][-1]


def test_a_hybrid_trains_without_new_code(folder, capsys):
    args = training(folder, "transformer", "hybrid", "model.pattern=(rsf)*2", "training.budget.steps=3")
    code, said, _ = called(capsys, *args)
    assert code == 0 and "saved in" in said


def test_one_budget_takes_the_place_of_another(folder, capsys):
    _, report, _ = called(capsys, *training(folder, "lstm", "epochs", "training.budget.epochs=0.5", "--json"))
    assert json.loads(report)["steps"] == 29  # half of 1,885 tokens // 4 rows // 8


@pytest.mark.parametrize(("more", "words"), [
    (["training.budget.steps=0"], "expected exactly one of steps, epochs, tokens, flops and seconds, more than 0."),
    (["training.budget.steps=10", "training.budget.seconds=5"],
     "chainrule: training.budget.steps and training.budget.seconds are both given, expected one of them.\n"),
    (["training.budget={steps: 10}", "training.budget.epochs=5"],
     "training.budget.steps and training.budget.epochs are both given, expected one of them.\n"),
    (["training.optimizer.lr=1"], "no option training.optimizer.lr. Known: beta1, beta2, epsilon, rate, weight_decay."),
    (["training.schedul=linear"], "no option training.schedul. Did you mean 'schedule'?"),
    (["model.s.heads=3"], "chainrule: model.s.heads = 3, expected a divisor of width 8.\n"),
    (["model.dropout.rate=1.5"], "chainrule: model.dropout.rate = 1.5, expected at least 0 and less than 1.\n"),
    (["model.f=mlp", "model.f.activation=relux"], "chainrule: model.f.activation = 'relux', expected an activation."),
    (["training.optimizer.rate=0.0"], "chainrule: training.optimizer.rate = 0.0, expected more than 0.\n"),
    (["training.schedule.warmup=2.0"], "chainrule: training.schedule.warmup = 2.0, expected a share, from 0 to 1.\n"),
    (["model.pattern=q"], "model.pattern = 'q', expected a part for each letter; 'q' has none. Say which: model"),
    (["training.reading=contiguous"], "training.reading = 'contiguous', expected 'windows' for attention"),
    (["training.initial=engine", "model.pattern=cf"], "The engine has no other part."),
    (["training.precision=float8"], "training.precision = 'float8', expected 'float32', 'float64', 'bfloat16'"),
])
def test_a_mistake_in_the_recipe_is_one_clear_line(folder, more, words, capsys):
    code, _, said = called(capsys, *training(folder, "transformer", "mistake", *more))
    assert code == 2 and words in said and len(said.splitlines()) == 1


def test_a_model_that_the_machine_cannot_hold_is_refused_before_its_memory_is_filled(folder):
    args = command("train", "gpt3-175b", "--data", folder / "text.txt", "--out", folder / "huge", "tokenizer=bytes",
                   "training.device=cpu")
    done = subprocess.run(args, capture_output=True, text=True, env=environment(folder), timeout=600)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert "weights and gradients alone take 1,39" in last and "Try a smaller model.width" in last, done.stderr
    assert not (folder / "huge").exists() and not (folder / ".huge.training").exists()
