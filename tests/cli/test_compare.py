"""`chainrule compare` as it is typed: tables, JSON, exit codes, and that n-grams need no torch."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import warm_python

from chainrule.cli.app import main

ROOT = Path(__file__).parents[2]


def ran(*args, folder, **environment):
    done = subprocess.run([warm_python.chainrule(), "compare", *map(str, args)], cwd=folder, text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment})
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("cli")
    (found / "text.txt").write_text("".join(f"line {i} of a text with {i % 7} words or {i % 11}\n" for i in range(300)))
    (found / "broken.yaml").write_text("family: ngram\ntokenizer: bytes\nmodel: [3\n")
    return found


@pytest.fixture(scope="module")
def shown(folder):
    return ran("ngram", "--grid", "model.order=2,3", "--data", "text.txt", "--out", "report", "--advise",
               folder=folder)


def test_a_person_gets_a_table_notes_advice_and_what_to_do_next(shown):
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:2] == ["bits/byte", "95"]
    assert [line.split("  ")[0] for line in lines[1:7]] == [
        *sorted(["ngram order=2", "ngram order=3"], key=lambda name: shown.stdout.index(name)), "zlib", "bz2", "xz",
        "mixture of all"]
    assert "Advice: None yet: the compressor " in shown.stdout and "Note: " in shown.stdout
    assert ("chainrule: ngram order=2, ngram order=3: as the recipe says, whatever the budget; then an evaluation of "
            "each") in shown.stderr
    assert lines[-1] == '  chainrule generate report/best --prompt "..."'
    assert "[1/2] ngram order=2: started." in shown.stderr


def test_json_is_one_object(shown, folder):
    done = ran("ngram", "--grid", "model.order=2,3", "--data", "text.txt", "--out", "report", "--json",
               folder=folder)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report == json.loads((folder / "report" / "report.json").read_text())
    assert report["command"] == ("chainrule compare ngram --data text.txt --budget 1m "
                                 "--grid model.order=2,3 --out report")


def test_the_command_in_the_report_runs_it_again(shown, folder):
    report = json.loads((folder / "report" / "report.json").read_text())
    import shlex

    done = ran(*shlex.split(report["command"])[2:], folder=folder)
    assert done.returncode == 0 and done.stderr.count("already finished") == 2


def test_the_page_is_written_or_a_line_says_why(shown, folder):
    assert (folder / "report" / "report.html").exists() or "report.html was not written: " in shown.stderr


def test_the_best_can_be_used_at_once(shown, folder):
    args = [warm_python.chainrule(), "generate", "report/best", "--prompt", "line"]
    done = subprocess.run(args, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0 and done.stdout.startswith("line")


def test_n_grams_are_compared_without_torch(folder, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('nobody may import torch here')\n")
    done = ran("ngram", "--data", "text.txt", "--out", tmp_path / "report", folder=folder,
               PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == 0 and "nobody may" not in (tmp_path / "report" / "trials" / "ngram.log").read_text()


def test_when_all_fail_the_exit_code_is_one(folder, tmp_path):
    done = ran("ngram", "model.smoothing=maximum_likelihood", "--data", "text.txt", "--out", tmp_path / "report",
               folder=folder)
    assert done.returncode == 1 and done.stderr.endswith("chainrule: all recipes failed.\n")
    assert "held-out tokens impossible, so its bits per byte are infinite" in done.stdout


@pytest.mark.parametrize(("args", "code", "words"), [
    (["ngram"], 2, "compare needs --data SPEC, for example: chainrule compare ngram lstm"),
    ([], 2, "compare needs recipes"),
    (["ngram", "--data", "text.txt"], 2, "compare needs --out REPORT"),
    (["ngram", "--data", "text.txt", "--out", "x", "--budget", "soon"], 2, "--budget = 'soon', expected an amount"),
    (["ngram", "--data", "text.txt", "--out", "x", "--seeds", "0"], 2, "--seeds = 0, expected at least 1."),
    (["ngram", "--data", "nowhere", "--out", "x"], 1, "nowhere: no such file or folder"),
    (["ngram", "--data", "text.txt", "--out", "x", "--tokenizer", "btes"], 2, "--tokenizer = 'btes', expected 'own', "),
    (["ngram", "--data", "text.txt", "--out", "x", "--change", "model.ordr=3"], 2, "--change model.ordr=3: "),
    (["ngram", "broken.yaml", "--data", "text.txt", "--out", "x"], 2, "broken: broken.yaml, line 4: not YAML"),
    (["ngram", "lsmt", "--data", "text.txt", "--out", "x"], 2, "no recipe named 'lsmt'. Did you mean 'lstm'?"),
    (["ngram", "ngram-bytes", "model.ordr=3", "--data", "text.txt", "--out", "x"], 2, "Did you mean 'order'?"),
    (["ngram", "--data", "text.txt", "--out", "text.txt"], 1, "text.txt: a file is there"),
    (["ngram", "--data", "text.txt", "--out", "report", "--budget", "9m"], 2, "report: holds another comparison:"),
])
def test_a_mistake_is_one_sentence(args, code, words, shown, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as end:
        main(["compare", *args])
    printed, said = capsys.readouterr()
    assert (end.value.code, printed) == (code, "") and words in said, said
    assert not (folder / "x").exists()
