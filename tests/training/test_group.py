"""Two real processes train one model: the weights of one process, decisions that both make, files that one writes."""

import gc
import io
import json
import multiprocessing
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from chainrule.storage import verify_run
from chainrule.storage.tensors import open_tensors
from chainrule.training.group import Group

ROOT = Path(__file__).parents[2]
FORK = multiprocessing.get_context("fork")
LOADED = ["torch._dynamo", "torch.distributed.nn", "chainrule.cli.train", "chainrule.families.neural"]  # by all of them
DRIVER = '''
"""`chainrule`, in a process that may run out of memory or be stopped; writes down what it did."""

import json
import os
import signal
import sys

FOLDER, MODE = os.environ["WATCHED"], os.O_WRONLY | os.O_RDWR | os.O_CREAT
me, written, rows = os.environ.get("RANK", "0"), [], []


def notes(event, given):
    """What is opened for writing, made, moved or removed in the watched folder."""
    path = str(given[0]) if given else ""
    if not path.startswith(FOLDER):
        return
    if event == "open" and (set(given[1] or "") & set("wax+") or (given[2] or 0) & MODE):
        written.append(path)
    if event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "os.truncate"):
        written.append(path)


import torch

from chainrule.tasks.language import Language
from chainrule.training.learner import Learner

real_loss, real_step = Language.loss, Learner.step


def loss(self, network, batch, *, smoothing=0.0):
    if torch.is_grad_enabled():
        rows.append(len(batch))
    if me == os.environ.get("LACKING") and torch.is_grad_enabled() and len(batch) > 1:
        raise torch.OutOfMemoryError("CUDA out of memory.")
    return real_loss(self, network, batch, smoothing=smoothing)


def step(self, state, progress):
    outcome = real_step(self, state, progress)
    if os.environ.get("STOPPED") == f"{me}:{state.step}":
        os.kill(os.getpid(), signal.SIGTERM)
    return outcome


Language.loss, Learner.step = loss, step
sys.addaudithook(notes)
from chainrule.cli.app import main

try:
    main(sys.argv[1:])
finally:
    with open(os.environ["TOLD"] + me, "w") as file:
        json.dump({"written": written, "rows": rows}, file)
'''
SMALL = ["tokenizer=bytes", "model.width=16", "model.context=8", "training.budget.steps=12", "training.device=cpu",
         "training.optimizer=adamw", "model.dropout.rate=0", "split.valid=0.1", "training.evaluate_every=6"]
RECIPES = {"transformer": ["model.s.heads=2", "training.batch=6"],
           "lstm": ["training.batch=5", "model.pattern=rr"]}  # whose state is carried, with 2 and 3 rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, chance = tmp_path_factory.mktemp("group"), random.Random(0)
    words = ["cat", "dog", "mat", "sat", "the", "on"]
    (made / "text.txt").write_text("".join(" ".join(chance.choices(words, k=8)) + "\n" for _ in range(80)))
    (made / "driver.py").write_text(DRIVER)
    (made / "runs").mkdir()
    for module in LOADED:
        import_module(module)
    return made


def command(folder, recipe, out, *more):
    return [str(folder / "driver.py"), "train", recipe, "--data", str(folder / "text.txt"), "--out",
            str(folder / "runs" / out), *SMALL, *RECIPES[recipe], *more]


def environment(folder, **more):
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "WATCHED": str(folder / "runs"),
            "TOLD": str(folder / "told"), **more}


class Forked:
    """A process of its own that runs the driver, and has torch loaded already."""

    def __init__(self, folder, args, **more):
        self.told = [folder / f"{name}{more.get('RANK', '')}" for name in ("output", "errors")]
        self.process = FORK.Process(target=self.run, args=(args, environment(folder, **more)))
        self.process.start()

    def run(self, args, environment):
        gc.callbacks.clear()  # a signal that comes while one of another test's library runs would be lost
        os.environ.clear()
        os.environ.update(environment)
        for number, path in enumerate(self.told, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(number, "wb"), line_buffering=True) for number in (1, 2))
        sys.argv, code = args, 1
        try:
            runpy.run_path(args[0], run_name="__main__")
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)

    def ended(self):
        """Exit code, standard output and standard error."""
        self.process.join(120)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return self.process.exitcode, *(path.read_text() for path in self.told)


def alone(folder, recipe, *more):
    """The run of one process, made once."""
    out = f"{recipe}-alone{''.join(more)}"
    if not (folder / "runs" / out).exists():
        code, _, errors = Forked(folder, command(folder, recipe, out, *more)).ended()
        assert code == 0, errors
    return folder / "runs" / out


def together(folder, args, codes=(0, 0), **more):
    """A command in two processes that know of each other; what each said, and what each did."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **more}
    both = [Forked(folder, args, RANK=str(rank), LOCAL_RANK=str(rank), **shared) for rank in range(2)]
    ends = [process.ended() for process in both]
    assert tuple(code for code, _, _ in ends) == codes, "\n".join(errors for _, _, errors in ends)
    said = [(output, errors) for _, output, errors in ends]
    did = [json.loads(Path(f"{folder / 'told'}{rank}").read_text()) for rank in range(2)]
    return said, did


def assert_same_weights(one, other):
    ours, theirs = (open_tensors(path / "model.safetensors") for path in (one, other))
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_allclose(array, theirs[name], rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.fixture(scope="module", params=RECIPES)
def both(request, folder):
    """A training in two processes: its recipe, its run, what each process said and did."""
    said, did = together(folder, command(folder, request.param, f"{request.param}-two", "--json"))
    return request.param, folder / "runs" / f"{request.param}-two", said, did


def test_two_processes_end_with_the_weights_of_one(both, folder):
    recipe, path, _, did = both
    assert_same_weights(alone(folder, recipe), path)
    whole = 6 if recipe == "transformer" else 5
    assert set(did[0]["rows"]) == {whole // 2} and set(did[1]["rows"]) == {whole - whole // 2}, "each has its share"
    one, two = (json.loads((each / "report.json").read_text()) for each in (alone(folder, recipe), path))
    for part in ("training", "last"):
        assert two[part] == pytest.approx(one[part], rel=1e-4), part
    assert two["valid"]["nll"] == pytest.approx(one["valid"]["nll"], rel=1e-4)
    assert {key: two[key] for key in ("steps", "tokens", "flops", "data")} == {
        key: one[key] for key in ("steps", "tokens", "flops", "data")}


def test_only_one_process_writes(both):
    _, path, _, did = both
    assert did[1]["written"] == [] and len(did[0]["written"]) > 5
    assert path.is_dir() and not path.with_name(f".{path.name}.training").exists()
    assert verify_run(path)[1] == []


def test_only_the_first_process_prints(both):
    _, _, said, _ = both
    assert "step 12: validation loss " in said[0][1] and json.loads(said[0][0])["steps"] == 12
    assert said[1] == ("", "")


@pytest.mark.parametrize(("recipe", "lacking"), [("transformer", "1"), ("lstm", "1"), ("transformer", "0")])
def test_if_one_process_runs_out_of_memory_both_use_smaller_micro_batches(recipe, lacking, folder):
    out = f"{recipe}-narrow{lacking}"
    said, did = together(folder, command(folder, recipe, out, "--json"), LACKING=lacking)
    assert_same_weights(alone(folder, recipe), folder / "runs" / out)
    assert max(did[int(lacking)]["rows"]) > 1, "more rows were tried"
    assert all(set(each["rows"][-12:]) == {1} for each in did), "in the end both take single ones"
    assert "out of memory at step 1; using 2 micro-batches of 3." in said[0][1]


def test_the_command_ends_well_in_every_process_also_under_torchrun(folder):
    """What is printed for people needs the finished run: of several processes only the first one has it."""
    together(folder, command(folder, "transformer", "shown"))
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                           *command(folder, "transformer", "torchrun")], env=environment(folder), capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert_same_weights(alone(folder, "transformer"), folder / "runs" / "torchrun")
    assert done.stdout.count("saved in ") == 1


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_signal_to_one_process_stops_both_and_the_same_command_continues(recipe, folder):
    """The state that each process carries is of its own rows."""
    out = f"{recipe}-cut"
    ends = (128 + signal.SIGTERM,) * 2
    said, _ = together(folder, command(folder, recipe, out, "--json"), codes=ends, STOPPED="1:7")
    assert "stopped after step 7; the same command continues from there." in said[0][1]
    assert not (folder / "runs" / out).exists()
    said, _ = together(folder, command(folder, recipe, out, "--json"))
    assert "resuming at step 7, " in said[0][1]
    assert_same_weights(alone(folder, recipe), folder / "runs" / out)


@pytest.mark.parametrize("recipe", RECIPES)
def test_with_fewer_rows_than_processes_the_weights_are_still_those_of_one(recipe, folder):
    single = "training.batch=1"
    together(folder, command(folder, recipe, f"{recipe}-single", single, "--json"))
    assert_same_weights(alone(folder, recipe, single), folder / "runs" / f"{recipe}-single")


@pytest.mark.parametrize("rows", [1, 5, 6, 7])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_shares_of_all_processes_are_the_batch(size, rows):
    shares = [Group(rank, size).share(rows) for rank in range(size)]
    assert [row for begin, end in shares for row in range(begin, end)] == list(range(rows))
    assert max(end - begin for begin, end in shares) <= -(-rows // size)


def test_alone_a_process_leads_and_agrees_with_itself():
    group = Group()
    tensors = [np.ones(3)]
    group.sum_(tensors)
    assert group.leads and group.maximum(3) == 3 and group.broadcast({"a": 1}) == {"a": 1} and tensors[0].sum() == 3
