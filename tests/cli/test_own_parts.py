"""Parts of one's own on the command line: checked, trained, compared; every process that is started knows them."""

import json
import os
import subprocess
from pathlib import Path

import plugins
import pytest
import warm_python

from chainrule.cli.app import main
from chainrule.recipe.plugins import VARIABLE

ROOT = Path(__file__).parents[2]
RECIPE = """family: neural
tokenizer: bytes
model: {pattern: m, width: 8, context: 8, parts: {m: running_mean}, position: none}
training: {budget: {steps: 3}, batch: 4, device: cpu}
"""
CAUSAL = "Where it reads from left to right, a later input never changes an earlier output"
TENSORS = "Its state holds only tensors, with the row as their first axis"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("own")
    (made / "text.txt").write_text("".join(f"line {i} of a text with {i % 7} words or {i % 11}\n" for i in range(200)))
    (made / "mean.yaml").write_text(RECIPE)
    for name, source in (("right", plugins.RUNNING_MEAN), ("ahead", plugins.LOOKING_AHEAD),
                         ("number", plugins.ONE_COUNT)):
        plugins.written(made / name, "mixers", "running_mean", source)
    return made


def ran(folder, *args, **environment):
    done = subprocess.run([warm_python.chainrule(), *map(str, args)], cwd=folder, text=True,
                          capture_output=True, timeout=600, env={**os.environ, "PYTHONPATH": str(ROOT), **environment})
    assert "Traceback" not in done.stderr, done.stderr
    return done


def called(capsys, monkeypatch, *args):
    """A command in this process, which forgets the plug-ins afterwards: exit code, what it printed and said."""
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return end.value.code, *capsys.readouterr()


def test_the_environment_names_a_mixer_that_train_uses(folder, capsys, monkeypatch):
    train = ["train", "mean.yaml", "--data", "text.txt", "--out", "by-environment", "--json"]
    done = ran(folder, *train, CHAINRULE_PLUGINS=str(folder / "right"))
    assert done.returncode == 0 and json.loads(done.stdout)["steps"] == 3, done.stderr
    write = ["generate", folder / "by-environment", "--prompt", "line", "--max-tokens", 3]
    code, text, _ = called(capsys, monkeypatch, *write, "--plugins", folder / "right")
    assert code == 0 and text.startswith("line")


def test_without_its_folder_a_mixer_is_unknown(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    code, text, said = called(capsys, monkeypatch, "train", "mean.yaml", "--data", "text.txt", "--out", "none")
    assert (code, text, said.count("\n")) == (2, "", 1) and "no mixer named 'running_mean'" in said
    assert not (folder / "none").exists()


def test_plugins_reach_the_processes_that_compare_starts_and_stand_in_the_command_to_run_it_again(folder):
    compare = ["ngram-bytes", "mean.yaml", "--data", "text.txt", "--budget", "200tok", "--out", "report", "--json"]
    done = ran(folder, "compare", "--plugins", "right", *compare)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    rows = {row["name"]: row for row in report["rows"] if row["kind"] == "model"}
    assert rows["mean"]["status"] == "ok" and rows["mean"]["steps"] == 6 and rows["ngram-bytes"]["status"] == "ok"
    assert report["command"].startswith("chainrule compare ngram-bytes mean.yaml ")
    assert " --plugins right " in report["command"]


def test_a_part_that_compare_does_not_know_is_refused_before_anything_is_trained(folder):
    done = ran(folder, "compare", "ngram", "transformer", "model.s=running_mean", "--data", "text.txt", "--out", "none")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "transformer s=running_mean: no mixer named 'running_mean'" in done.stderr
    assert not (folder / "none").exists()


def test_check_says_what_passed(folder, capsys, monkeypatch):
    code, shown, said = called(capsys, monkeypatch, "parts", "check", folder / "right")
    lines = shown.splitlines()
    assert (code, said, lines[0]) == (0, "", "parts/mixers/running_mean")
    assert f"  passed  {CAUSAL}" in lines and f"  passed  {TENSORS}" in lines and "FAILED" not in shown
    assert lines[-1] == f"{len(lines) - 2} passed, 0 failed" and len(lines) > 15


@pytest.mark.parametrize(("wrong", "sentence", "problem"), [
    ("ahead", CAUSAL, "outputs before an input that changed at position 1: "),
    ("number", TENSORS, "the state of running_mean has count = 0, expected only tensors")])
def test_check_names_what_a_wrong_part_breaks_and_fails(wrong, sentence, problem, folder, capsys, monkeypatch):
    code, shown, said = called(capsys, monkeypatch, "parts", "check", folder / wrong)
    lines = shown.splitlines()
    at = lines.index(f"  FAILED  {sentence}")
    assert code == 1 and lines[at + 1].strip().startswith(problem)
    failed = shown.count("  FAILED  ")
    assert lines[-1] == f"{shown.count('  passed  ')} passed, {failed} failed"
    assert said == f"chainrule: {failed} of {failed + shown.count('  passed  ')} checks failed.\n"


def test_check_of_one_file_gives_a_script_one_object(folder, capsys, monkeypatch):
    file = folder / "ahead" / "mixers" / "running_mean.py"
    code, shown, _ = called(capsys, monkeypatch, "parts", "check", file, "--json")
    found = json.loads(shown)
    problems = {each["check"]: each["problem"] for each in found["checks"]}
    assert code == 1 and found["failed"] == sum(each is not None for each in problems.values()) > 0
    assert problems[CAUSAL].startswith("outputs before an input") and problems[TENSORS] is None
    assert found["folder"] == str(file) and found["passed"] + found["failed"] == len(found["checks"])


@pytest.mark.parametrize(("words", "sentence"), [
    (["check"], "parts check needs a plug-in folder, for example: chainrule parts check my_parts"),
    (["check", "{}/none"], "none: no such file or folder"),
    (["check", "{}/empty"], "empty: no parts in it, expected subfolders such as mixers/ or attention/"),
    (["--plugins"], "--plugins needs a folder"),
    (["--plugins", "{}/none"], "--plugins {}/none: no such folder")])
def test_a_folder_without_parts_is_one_line(words, sentence, tmp_path, capsys, monkeypatch):
    (tmp_path / "empty").mkdir()
    code, shown, said = called(capsys, monkeypatch, "parts", *(word.format(tmp_path) for word in words))
    assert (code, shown, said.count("\n")) == (2, "", 1) and sentence.format(tmp_path) in said


@pytest.mark.parametrize(("verb", "before", "line"), [
    ("cost", "        self.outward = Linear", "        self.scale = torch.ones(2).mean().item()\n"),
    ("train", "        self.outward = Linear", "        self.scale = torch.ones(2).mean().item()\n"),
    ("train", "        self.outward = Linear", "        assert torch.ones(2).mean() > 0\n"),
    ("cost", "        before = self.start", "        x = x / 2 if x.abs().max() > 9 else x\n"),
    ("train", "        before = self.start", "        x = x[:, x[0, :, 0].nonzero()[:, 0]]\n"),
    ("train", "        before = self.start", "        low = x.tolist()\n")])
def test_a_part_that_needs_numbers_while_it_is_counted_is_named_with_its_line(verb, before, line, folder, tmp_path,
                                                                            capsys, monkeypatch):
    source = plugins.RUNNING_MEAN.replace(before, line + before)
    file = plugins.written(tmp_path, "mixers", "running_mean", source)
    number = file.read_text().splitlines().index(line.rstrip("\n")) + 1
    monkeypatch.chdir(folder)
    data = ["--data", "text.txt", "--out", tmp_path / "run"] if verb == "train" else []
    code, shown, said = called(capsys, monkeypatch, verb, "mean.yaml", *data, "--plugins", tmp_path)
    assert (code, shown) == (1, "") and f"{file}, line {number}: `{line.strip()}` needs a tensor's numbers" in said
    assert "the meta device" in said and "This is a bug" not in said and not (tmp_path / "run").exists()


def test_any_other_error_of_a_part_names_its_file_and_line_and_is_not_called_a_bug(folder, tmp_path, capsys,
                                                                                  monkeypatch):
    first = "super().__init__()\n"
    source = plugins.RUNNING_MEAN.replace(first, f"{first}        self.size = place.size\n")
    file = plugins.written(tmp_path, "mixers", "running_mean", source)
    monkeypatch.chdir(folder)
    code, shown, said = called(capsys, monkeypatch, "cost", "mean.yaml", "--plugins", tmp_path)
    number = file.read_text().splitlines().index("        self.size = place.size") + 1
    assert (code, shown, said.count("\n")) == (1, "", 1) and "This is a bug" not in said
    assert f"{file}, line {number}, in __init__: AttributeError: 'Place' object has no attribute 'size'" in said
