"""The command line in the process of the tests, and what a refusal looks like."""

from types import SimpleNamespace

import pytest

from chainrule.cli.app import main


def in_this_process(capture):
    """A function that runs a command and gives its exit code and what it printed."""
    def run(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(map(str, args)))
        out, err = capture.readouterr()
        return SimpleNamespace(code=exit.value.code or 0, out=out, err=err)
    return run


def refused(done, code, *words):
    """Exactly one line, on standard error, which has these words."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("chainrule: ") and done.err.endswith("\n") and done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err, done.err
