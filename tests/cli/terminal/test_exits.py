"""However a command ends, a person sees one line and a script the right exit code."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def guarded(code, **options):
    """Runs `def command():` with this body in a process of its own."""
    body = "\n".join(f"    {line}" for line in code.split("\n"))
    program = ("import sys, errno, os, time, typer\nfrom chainrule.cli.terminal.exits import guarded\n"
               f"from chainrule.errors import *\ndef command():\n{body}\nsys.exit(guarded(command))")
    env = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run([sys.executable, "-c", program], text=True, timeout=600, env=env,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


@pytest.mark.parametrize(("code", "exit_code", "line"), [
    ("raise DataError('a.txt, line 3: bad byte.')", 1, "a.txt, line 3: bad byte."),
    ("raise OptionError('model.order', 0, 'at least 1')", 2, "model.order = 0, expected at least 1."),
    ("bytearray(2**60)", 1, "out of memory. Try less text, a smaller model (model.order, model.dimension, "
     "model.width), or a bound such as model.memory=500M."),
    ("open('/dev/full', 'w').write('x' * 10**6)", 1, "no space left on the disk. Free some, or write somewhere else."),
    ("raise OSError(errno.ENOSPC, 'full', 'a/b')", 1,
     "a/b: no space left on the disk. Free some, or write somewhere else."),
    ("open('no/such/file')", 1, "no/such/file: No such file or directory."),
    ("open('/')", 1, "/: Is a directory."),
    ("raise KeyboardInterrupt", 130, "interrupted."),
    ("raise typer.BadParameter('no good')", 2, "Invalid value: no good. Try 'chainrule --help'."),
    ("raise type('PanicException', (BaseException,), {})('index 7\\nof 3')", 1,
     "a library that chainrule uses failed: index 7 of 3. CHAINRULE_DEBUG=1 shows where."),
    ("raise ValueError('two\\nlines')", 1,
     "unexpected ValueError at <string>:5: two lines This is a bug; CHAINRULE_DEBUG=1 shows the traceback."),
])
def test_every_failure_is_one_line(code, exit_code, line):
    done = guarded(code)
    assert (done.returncode, done.stdout, done.stderr) == (exit_code, "", f"chainrule: {line}\n")


def test_debug_mode_also_shows_the_traceback():
    done = guarded("1 / 0", env={"CHAINRULE_DEBUG": "1"})
    assert done.stderr.startswith("Traceback") and done.stderr.splitlines()[-1].startswith("chainrule: unexpected Zero")


def test_success_prints_nothing_and_exits_with_0():
    done = guarded("print('result')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "result\n", "")


def test_a_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    done = guarded("for _ in range(9999): print('x' * 99)", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_result_that_cannot_be_written_is_reported():
    with open("/dev/full", "w") as full:
        done = guarded("print('x')", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "chainrule: no space left on the disk. Free some, or write somewhere else.\n"


def test_a_terminal_that_lacks_a_character_gets_its_escape():
    done = guarded("print('caf\\u00e9 \\u2014 \\ud800')", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (0, "caf\\xe9 \\u2014 \\ud800\n")


@pytest.mark.parametrize(("number", "exit_code", "text"), [(signal.SIGINT, 130, "cleaned\nchainrule: interrupted.\n"),
                                                           (signal.SIGTERM, 143, "cleaned\n")])
def test_a_stopped_command_cleans_up_first(number, exit_code, text):
    program = ("import sys, time\nfrom chainrule.cli.terminal.exits import guarded\ndef command():\n    try:\n"
               "        print('ready', flush=True)\n        [time.sleep(0.01) for _ in range(60000)]\n    finally:\n"
               "        print('cleaned', file=sys.stderr)\nsys.exit(guarded(command))")
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.communicate(timeout=600)[1] == text and process.returncode == exit_code


def test_sentences_of_the_library_become_lines():
    done = guarded("import logging\nlogging.getLogger('chainrule.counting').info('falls back to %s', 'Witten-Bell')")
    assert done.stderr == "chainrule: falls back to Witten-Bell\n"
