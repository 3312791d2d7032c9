"""`chainrule train` that is killed, interrupted or out of room leaves a whole run or none, wherever it was."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chainrule.errors import StorageError
from chainrule.runs import load

ROOT = Path(__file__).parents[2]
FILES = ["MANIFEST.json", "README.md", "environment.json", "metrics.jsonl", "model.safetensors", "recipe.yaml",
         "report.json", "tokenizer.json"]


def command(*args):
    return [sys.executable, "-m", "chainrule", *map(str, args)]


def environment(cache):
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)}


@pytest.fixture
def text(tmp_path):
    chance, words = random.Random(0), [f"w{i}" for i in range(500)]
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(chance.choices(words, k=10)) + "\n" for _ in range(5000)), encoding="utf-8")
    return path


def train(text, out, cache, *more):
    return command("train", "ngram", "--data", text, "--out", out, "model.order=3", *more), environment(cache)


def stopped(text, folder, number, times):
    """Trains again and again into one run folder, and stops at every moment of the work; how often it was in time."""
    out, chance, stops = folder / "run", random.Random(number), 0
    for turn in range(times):
        args, env = train(text, out, folder / f"cache{turn}", "--force")
        process = subprocess.Popen(args, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0.05, 0.5))
        process.send_signal(number)
        errors = process.communicate(timeout=600)[1]
        stops += process.returncode != 0
        assert "Traceback" not in errors or number == signal.SIGINT  # Python itself may still have been starting
        assert not out.exists() or load(out).tokenizer.vocabulary_size == 503
    return stops


def test_kill_9_leaves_a_whole_run_or_none(text, tmp_path):
    (tmp_path / "out").mkdir()
    assert stopped(text, tmp_path / "out", signal.SIGKILL, 6) > 0
    args, env = train(text, tmp_path / "out" / "run", tmp_path / "cache", "--force")
    subprocess.run(args, env=env, check=True, capture_output=True, timeout=600)
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if "cache" not in path.name) == ["run"]
    assert load(tmp_path / "out" / "run").model.vocabulary_size == 503


@pytest.mark.slow
def test_fifty_kills_leave_no_unreadable_folder(text, tmp_path):
    assert stopped(text, tmp_path, signal.SIGKILL, 50) > 10


def test_an_interruption_leaves_nothing_half_written(text, tmp_path):
    (tmp_path / "out").mkdir()
    assert stopped(text, tmp_path / "out", signal.SIGINT, 4) > 0
    assert {path.name for path in (tmp_path / "out").iterdir() if "cache" not in path.name} <= {"run"}


@pytest.fixture
def trained(text, tmp_path):
    args, env = train(text, tmp_path / "run", tmp_path / "cache")
    done = subprocess.run(args, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def test_one_flipped_bit_in_any_file_of_a_trained_run_is_refused_by_every_command(trained, text):
    assert sorted(path.name for path in trained.iterdir()) == FILES
    for name in FILES:
        content = (trained / name).read_bytes()
        for position in {0, len(content) // 2, len(content) - 1} if content else ():
            damaged = bytearray(content)
            damaged[position] ^= 1 << random.Random(position).randrange(8)
            (trained / name).write_bytes(damaged)
            with pytest.raises(StorageError, match=f"run/{name}"):
                load(trained)
        if name == "model.safetensors":
            done = subprocess.run(command("evaluate", trained, "--data", text), capture_output=True, text=True,
                                  env=environment(trained.parent / "cache"), timeout=600)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.startswith(f"chainrule: {trained}/{name}: SHA-256 differs from MANIFEST.json")
        (trained / name).write_bytes(content)
    assert load(trained).model.vocabulary_size == 503


@pytest.mark.parametrize(("size", "place", "words"), [("64k", "out", "run: no space left on the disk"),
                                                      ("16k", "cache", "the cache cannot be written")])
def test_a_full_disk_is_one_line(text, tmp_path, size, place, words):
    unshare = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]
    disk = tmp_path / place
    disk.mkdir()
    args, env = train(text, tmp_path / "out" / "run", tmp_path / "cache")
    if subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small disk")
    script = f'mount -t tmpfs -o size={size} none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code'
    done = subprocess.run([*unshare, "sh", "-c", script, disk, *args], env=env, capture_output=True, text=True,
                          timeout=600)
    lines = [line for line in done.stderr.splitlines() if "too little text" not in line and line != "chainrule"]
    assert done.returncode == 1 and len(lines) == 1 and words in lines[0], done.stderr
    assert not (tmp_path / "out" / "run").exists()
