"""Training that is stopped in each of its steps leaves the older run, the newer, or none; never half of one."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chainrule.errors import StorageError
from chainrule.families import ngram
from chainrule.runs import load
from chainrule.storage import verify_run
from chainrule.text.tokenizers._pieces import trained, untrained

ROOT = Path(__file__).parents[2]
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
STEPS = ["reading", "counting", "smoothing", "saving", "sealing", "renaming"]
TELLING = """
import sys
from chainrule import jobs
from chainrule.cli.app import main
from chainrule.families import ngram
from chainrule.storage import writing

def telling(step, function):
    def tell(*args, **options):
        print(step or args[1], flush=True)
        return function(*args, **options)
    return tell

jobs.Job.timed = telling(None, jobs.Job.timed)
writing.seal = telling("sealing", writing.seal)
writing._put_in_place = telling("renaming", writing._put_in_place)
ngram.LEAST = 0
main(sys.argv[1:])
"""
SMALL = {"in memory": [], "on the disk": ["model.memory=1M"]}


@pytest.fixture(autouse=True)
def little_memory_is_enough(monkeypatch):
    """So that a small text is counted through files on the disk; the process that trains does the same."""
    monkeypatch.setattr(ngram, "LEAST", 0)


class Place:
    """A folder for a run, with a cache and a folder for temporary files of their own, and a text that grows."""

    def __init__(self, folder):
        self.out, self.cache, self.temporary = (folder / name for name in ("out", "cache", "temporary"))
        for each in (self.out, self.cache, self.temporary):
            each.mkdir()
        self.run, self.text, self.turns = self.out / "run", folder / "text.txt", 0
        chance = random.Random(0)
        words = [f"w{i}" for i in range(2000)]
        self.text.write_text("".join(" ".join(chance.choices(words, k=10)) + "\n" for _ in range(12_000)))

    def train(self, *options):
        """The command, and with it a line of text more, so that it finds nothing in the cache."""
        self.turns += 1
        with self.text.open("a") as file:
            file.write(f"turn {self.turns}\n")
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.temporary)}
        command = [sys.executable, "-c", TELLING, "train", "ngram", "--data", self.text, "--out", self.run, *options]
        return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def order(self):
        """Of the run that is there, after every byte of it has been checked; 0 if there is none."""
        try:
            problems = verify_run(self.run)[1]
        except StorageError:
            assert not self.run.exists()
            return 0
        assert problems == []
        return load(self.run).recipe.model.order

    def leftovers(self):
        """What is neither a run nor a whole folder of the cache."""
        partial = [path for path in self.cache.rglob("*") if ".partial" in path.name]
        return sorted(map(str, [*self.temporary.iterdir(), *partial, *set(self.out.iterdir()) - {self.run}]))


def stop(process, step, number, delay):
    """Sends the signal so many seconds after the step began; what was said on standard error."""
    for line in process.stdout:
        if line.strip() == step:
            break
    else:
        raise AssertionError(f"never came to {step}: {process.stderr.read()}")
    time.sleep(delay)
    process.send_signal(number)
    return process.communicate(timeout=600)[1]


def stopped(place, numbers, times, *options):
    """Stops training in every step in turn, replacing an older run; how often the signal came in time."""
    chance, hits = random.Random(0), 0
    for turn in range(times):
        number, step, before = numbers[turn % len(numbers)], STEPS[turn % len(STEPS)], place.order()
        left = place.leftovers()
        newer = 5 - (before or 3)  # orders 2 and 3 take turns
        process = place.train("--force", f"model.order={newer}", *options)
        said = stop(process, step, number, chance.choice([0, 0.001, 0.01, 0.05]) * chance.random())
        assert process.returncode in (0, SIGNALS[number], -number), said  # −number: Python was already shutting down
        assert "Traceback" not in said and "Exception ignored" not in said
        assert place.order() == newer if process.returncode == 0 else place.order() in (before, newer)
        assert number == signal.SIGKILL or set(place.leftovers()) <= set(left)
        if process.returncode == 130:
            assert said.splitlines()[-1] == "chainrule: interrupted."
        hits += process.returncode != 0
    return hits


def succeeds_next(place, *options):
    """Whatever was left before, the next training makes a whole run and sweeps the rest."""
    process = place.train("--force", "model.order=1", *options)
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 0, said
    assert place.order() == 1
    assert place.leftovers() == []


@pytest.mark.parametrize("memory", SMALL)
def test_eight_stops_in_all_steps_leave_a_whole_run_or_none(tmp_path, memory):
    place = Place(tmp_path)
    assert stopped(place, list(SIGNALS), 8, *SMALL[memory]) > 0  # on a busy machine most may come too late
    succeeds_next(place, *SMALL[memory])


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("memory", SMALL)
def test_fifty_stops_in_all_steps_leave_a_whole_run_or_none(tmp_path, memory, number):
    place = Place(tmp_path)
    assert stopped(place, [number], 50, *SMALL[memory]) > 0
    succeeds_next(place, *SMALL[memory])


@pytest.mark.parametrize("step", STEPS[:-1])
def test_a_first_training_that_is_killed_leaves_no_run(tmp_path, step):
    place = Place(tmp_path)
    process = place.train("model.order=2")
    stop(process, step, signal.SIGKILL, 0)
    assert process.returncode == -signal.SIGKILL
    assert place.order() == 0
    succeeds_next(place)


def test_of_several_trainings_into_one_folder_one_wins_and_the_others_say_so(tmp_path):
    place = Place(tmp_path)
    processes = [place.train("model.order=2") for _ in range(3)]
    said = [process.communicate(timeout=600)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 1, 1], said
    for text in [text for text, code in zip(said, codes, strict=True) if code]:
        assert "run: another process has written there meanwhile" in text or "run: there is a run already" in text
    assert place.order() == 2
    assert place.leftovers() == []


@pytest.mark.parametrize("presses", [1, 3])
def test_a_tokenizer_in_training_hears_ctrl_c_however_often_it_is_pressed(presses):
    """The library itself listens to nothing: the text would be read to its end, after some minutes."""
    from tokenizers import models, trainers

    ended = []

    def long_text():
        end = time.monotonic() + 300
        for turn in itertools.count():
            yield f"word{turn % 500} " * 20
            if turn in range(100, 100 + presses):
                os.kill(os.getpid(), signal.SIGINT)
            if time.monotonic() > end:
                ended.append(turn)
                return

    with pytest.raises(KeyboardInterrupt):
        trained(untrained(models.BPE()), trainers.BpeTrainer(vocab_size=300, show_progress=False), long_text())
    assert not ended
