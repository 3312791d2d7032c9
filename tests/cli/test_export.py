"""`chainrule export` on real runs: files that the kenlm module reads, other tokenizers, and clear refusals."""

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import kenlm
import numpy as np
import pytest

from chainrule.cli.app import main
from chainrule.counting.arpa.read import read_arpa
from chainrule.runs import load
from chainrule.verbs.train import train

LINES = ["the cat sat on the <unk>", "the dog sat on the cat", "a cat and a dog", "the mat sat"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text with a word <unk> and a run for each kind of tokenizer."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "text.txt").write_text("\n".join(LINES * 10) + "\n")
    for name in ("words", "characters", "bytes", "byte_pair"):
        train("ngram", folder / "text.txt", folder / name, overrides=["model.order=3", f"tokenizer.name={name}"])
    train("ngram", folder / "text.txt", folder / "pruned", overrides=["model.prune=[0,0,10]", "model.compact=true"])
    return folder


def run(*args):
    with pytest.raises(SystemExit) as exit:
        main(["export", *map(str, args)])
    return exit.value.code or 0


@pytest.mark.parametrize(("name", "file"), [("words", "x.arpa"), ("pruned", "x.arpa.gz")])
def test_kenlm_scores_the_exported_model_as_we_do(folder, tmp_path, capsys, name, file):
    assert run(folder / name, "--to", "arpa", tmp_path / file, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["format"] == "arpa"
    assert result["bytes"] == (tmp_path / file).stat().st_size
    made, peer = load(folder / name), kenlm.Model(str(tmp_path / file))
    assert result["ngrams"] == [len(level) for level in made.model.table.levels]
    for line in [*LINES, "cat the the"]:
        ids = made.tokenizer.encode(line)
        ours = made.model.score(np.array([[*ids, made.tokenizer.end]])).sum() / np.log(10)
        assert peer.score(line) == pytest.approx(ours, abs=1e-4)


@pytest.mark.parametrize("name", ["characters", "bytes", "byte_pair"])
def test_models_of_other_tokens_are_exported_with_a_sound_spelling(folder, tmp_path, name):
    assert run(folder / name, "--to", "arpa", tmp_path / "x.arpa") == 0
    made = load(folder / name)
    table, words = read_arpa(tmp_path / "x.arpa")
    assert len(set(words)) == len(words)
    assert {"<s>", "</s>", "Ġ"} <= set(words)
    sizes = [len(level) for level in made.model.table.levels]
    assert [len(level) for level in table.levels][1:] == sizes[1:]
    peer = kenlm.Model(str(tmp_path / "x.arpa"))
    unknowns = made.tokenizer.unknown is not None
    ids = made.tokenizer.encode("the cat sat")
    spelled = [words[i] if unknowns else words[i + 1] for i in ids]  # the file's <unk> takes the first place
    ours = made.model.score(np.array([[*ids, made.tokenizer.end]])).sum() / np.log(10)
    assert peer.score(" ".join(spelled)) == pytest.approx(ours, abs=1e-4)


def test_an_existing_file_is_replaced_only_with_force(folder, tmp_path, capsys):
    (tmp_path / "x.arpa").write_text("precious")
    assert run(folder / "words", "--to", "arpa", tmp_path / "x.arpa") == 1
    assert "x.arpa: exists already" in capsys.readouterr().err
    assert (tmp_path / "x.arpa").read_text() == "precious"
    assert run(folder / "words", "--to", "arpa", tmp_path / "x.arpa", "--force") == 0
    assert (tmp_path / "x.arpa").read_text().startswith("\\data\\")


@pytest.mark.parametrize(("args", "code", "line"), [
    (["RUN/words", "--to", "onnx", "OUT/x"], 2, "no format named 'onnx'. Known: arpa, engine, fasttext,"),
    (["RUN/none", "--to", "arpa", "OUT/x"], 1, "none: no such"),
    (["RUN/words", "--to", "arpa", "OUT/no/x.arpa"], 1, "no does not exist. Make it first"),
    (["RUN/words", "OUT/x.arpa"], 2, "Missing option '--to'"),
])
def test_mistakes_are_one_clear_line_and_nothing_is_written(folder, tmp_path, capsys, args, code, line):
    assert run(*(arg.replace("RUN", str(folder)).replace("OUT", str(tmp_path)) for arg in args)) == code
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_message_explains_the_text_s_own_unk(folder, tmp_path, caplog):
    caplog.set_level(logging.INFO, "chainrule")
    assert run(folder / "words", "--to", "arpa", tmp_path / "x.arpa") == 0
    assert "the text has its own word <unk>" in caplog.text


def test_a_killed_export_leaves_no_file_and_the_next_one_clears_up(folder, tmp_path):
    slow = ("import sys, time; from chainrule.counting.arpa import write as w; \n"
            "def wait(*a):\n    print('writing', flush=True); [time.sleep(0.01) for _ in range(60000)]\n"
            "w.PlainLines.__call__ = wait; from chainrule.cli.app import main; main(sys.argv[1:])")
    args = ["export", str(folder / "words"), "--to", "arpa", str(tmp_path / "x.arpa")]
    process = subprocess.Popen([sys.executable, "-c", slow, *args], stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout.readline() == b"writing\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not (tmp_path / "x.arpa").exists()
    assert len(list(tmp_path.iterdir())) == 1
    assert run(*args[1:]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.arpa"]
