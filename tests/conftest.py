"""A cache folder for every test run, so nothing depends on earlier ones; one thread; texts of several rooms."""

import csv
import os
import signal
import sys
import tempfile
from importlib.util import find_spec

import pytest
import warm_python
from small_text import labeled_texts, lines_of_two_kinds

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of two tests at once would wait for each other, spinning
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="chainrule-cache-")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts programs in the background so
    signal.signal(signal.SIGINT, signal.default_int_handler)
if find_spec("hypothesis"):  # the tests for a GPU need only pytest and torch
    from hypothesis import HealthCheck, settings

    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")  # on a busy one, examples take as long as they take


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each process gets tests that lie together and takes of others' when it has none left: what a module's tests
    share is then made once, where pytest-xdist's own order would make it in every process."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="module")
def one_thread():
    """Torch on one thread, for models of a few hundred weights."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def warm_trials():
    """What is compared in this process is trained in copies of one that imported torch once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", warm_python.python())
        yield


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """Sentences in which beasts eat and sleep, and tools cut and break, but for one in ten."""
    path = tmp_path_factory.mktemp("kinds") / "kinds.txt"
    path.write_text("".join(f"{line}\n" for line in lines_of_two_kinds()))
    return path


@pytest.fixture(scope="session")
def kinds_folder(tmp_path_factory):
    """Labeled texts: train and test as .txt with prefixes, .csv and .tsv with a header."""
    folder = tmp_path_factory.mktemp("labeled")
    for name, count, seed in (("train", 400, 0), ("test", 100, 1)):
        rows = list(labeled_texts(count, seed))
        (folder / f"{name}.txt").write_text("".join(f"__label__{label} {text}\n" for label, text in rows))
        (folder / f"{name}.tsv").write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows))
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("label", "text"), *rows])
    return folder
