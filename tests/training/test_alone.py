"""Training with little: on a machine that has only torch and NumPy, and in a process that may not have more memory."""

import multiprocessing
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from small import planned, train

from chainrule.models.shape import Shape
from chainrule.training.callbacks import Callbacks
from chainrule.training.from_ids import Vocabulary, train_ids
from chainrule.training.plan import Budget

ROOT = Path(__file__).parents[2]
ALONE = '''
import sys
from importlib.machinery import PathFinder
from pathlib import Path

MISSING = {"pydantic", "pydantic_core", "typer", "rich", "numba", "array_api_compat", "tokenizers", "yaml",
           "charset_normalizer", "duckdb"}


class Without:
    """Finds every module but the missing ones."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in MISSING else PathFinder.find_spec(name, path, target)


sys.meta_path[:] = [Without if each is PathFinder else each for each in sys.meta_path]
import torch

torch.set_num_threads(1)
from small import LSTM, TRANSFORMER, planned, train

for shape in (TRANSFORMER, LSTM):
    _, fitted = train(shape, planned(optimizer={"name": "muon", "rate": 0.01}), Path(sys.argv[1]) / shape.pattern)
    assert fitted.state.step == 12
print(sorted(MISSING & {name.partition(".")[0] for name in sys.modules}))
'''


def test_torch_and_numpy_are_enough(tmp_path):
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run([sys.executable, "-c", ALONE, tmp_path], env={**os.environ, "PYTHONPATH": path}, text=True,
                          capture_output=True, timeout=600)
    assert done.stdout.endswith("[]\n"), done.stderr


def confined(workspace, connection):
    """Trains with room for a few of 256 rows only, in a process that nothing has left memory in."""
    torch.set_num_threads(1)
    said = []
    train(Shape(pattern="sf", width=8, context=8), planned(budget=Budget(steps=1)), workspace / "warm")  # all code
    shape = Shape(pattern="(sf)*4", width=64, context=64)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))
    ids = np.random.default_rng(0).integers(2, 99, 30_000).astype(np.uint16)
    plan = planned(budget=Budget(steps=2), batch=256, keep=0)
    _, fitted = train_ids(shape, plan, ids, None, Vocabulary(99, 0, 1), workspace / "confined", device="cpu",
                          callbacks=Callbacks(said.append))
    connection.send((said, fitted.state.accumulation, fitted.state.tokens))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs to know how much memory is in use")
def test_smaller_micro_batches_are_used_when_memory_really_runs_out(tmp_path):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=confined, args=(tmp_path, theirs))
    process.start()
    theirs.close()
    assert ours.poll(120)
    said, accumulation, tokens = ours.recv()
    process.join(10)
    assert said[0] == "out of memory at step 1; using 2 micro-batches of 128."
    assert accumulation >= 2 and tokens == 2 * 256 * 64
