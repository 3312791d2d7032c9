"""Music on the command line: train, evaluate, generate files, inspect, compare; and one line for each mistake."""

import json

import mido
import pytest
from command_line import in_this_process, refused

import chainrule

pytestmark = pytest.mark.usefixtures("one_thread")
PIECES = {part: [[[low, low + 7], [low + 2, low + 9]] * 6 for low in range(50, 50 + count)]
          for part, count in (("train", 6), ("valid", 4), ("test", 4))}
SMALL = ["model.width=16", "training.budget.steps=4", "training.batch=4", "training.device=cpu"]
RUNS = {"music-rnn": [], "music-transformer": ["model.pattern=sf", "model.context=32"]}
runs = pytest.mark.parametrize("run", RUNS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("music-commands")
    (found / "a.json").write_text(json.dumps(PIECES))
    for recipe, more in RUNS.items():
        chainrule.train(recipe, found / "a.json", found / recipe, overrides=[*SMALL, *more])
    return found


@pytest.fixture
def command(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return in_this_process(capsys)


@runs
def test_evaluate_prints_the_frame_nll_with_its_interval(command, run):
    found = json.loads(command("evaluate", run, "--data", "a.json:test", "--json").out)
    assert found["frames"] == 48 and found["frame_nll"] > 0
    assert len(found["interval"]["frame_nll"]) == 2
    assert "frame nll" in command("evaluate", run, "--data", "a.json:test").out


@runs
def test_generate_writes_a_song(command, run, tmp_path):
    done = command("generate", run, "--prompt", "a.json:test#3", "--prompt-length", 3, "--max-tokens", 9, "--out",
                   tmp_path / "song.mid")
    assert done.out.strip() == str(tmp_path / "song.mid")
    track = mido.MidiFile(tmp_path / "song.mid").tracks[0]
    struck = [each.note for each in track if each.type == "note_on" and each.velocity]
    assert struck[:2] == [53, 60]
    assert command("generate", run, "--prompt", "on60 t1", "--max-tokens", 3).out.startswith("on60 t1 ")


@runs
def test_inspect_draws_a_piece(command, run, tmp_path):
    done = command("inspect", run, "a.json:test#1", "--out", tmp_path / "roll.html")
    assert "a.json:test#1: " in done.out and "nats per step" in done.out
    assert "<svg" in (tmp_path / "roll.html").read_text()
    found = json.loads(command("inspect", run, "--data", "a.json:test#1", "--json").out)
    assert len(found["pieces"][0]["nats"]) == 12
    assert bool(found["pieces"][0]["attention"]) == (run == "music-transformer")


@pytest.mark.parametrize(("words", "code", "said"), [
    (["inspect", "music-rnn"], 2, "there is nothing to look at. Give a piece"),
    (["inspect", "music-rnn", "a.json:test#1", "--top", "3"], 2, "--top = 3 does nothing with a model of music"),
    (["evaluate", "music-rnn", "--data", "none.mid"], 1, "none.mid: no such file or folder"),
    (["generate", "music-rnn", "--out", "song.mp3"], 2, "'song.mp3', expected a name that ends in .mid"),
    (["generate", "music-rnn", "--prompt", "a.json:test"], 2, "expected one piece, and not 4"),
])
def test_mistakes_are_one_line(command, words, code, said):
    refused(command(*words), code, said)


def test_compare_ranks_rolls_and_events_together(command, tmp_path, warm_trials):
    done = command("compare", "music-rnn", "music-transformer", "--data", "a.json", "--budget", "300tok", "--change",
                   "model.width=16", "--change", "training.batch=4", "--out", tmp_path / "report", "--json")
    report = json.loads(done.out)
    names = {row["name"] for row in report["rows"]}
    assert {"music-rnn", "music-transformer", "frequencies of keys", "each key by the frame before"} <= names
