"""Ctrl-C and `kill` are heard wherever they come, and break nothing where they come at a bad moment."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
BEGIN = """
import os, queue, signal, sys, threading, time
from chainrule.cli.terminal import interrupts
from chainrule.cli.terminal.exits import guarded
number = int(sys.argv[1])
def wait():  # a signal that comes just before one long sleep would not shorten it
    for _ in range(3000):
        time.sleep(0.01)
"""
LATER = "interrupts.AGAIN = 1.0"  # seconds: what follows is printed by then, also on a busy machine


def ended(body, number):
    """The exit code and the output of `def command():` with this body, which may send itself the signal."""
    program = f"{BEGIN}\ndef command():\n{textwrap.indent(textwrap.dedent(body), '    ')}\nsys.exit(guarded(command))"
    done = subprocess.run([sys.executable, "-c", program, str(int(number))], timeout=600, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return done.returncode, done.stdout


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_an_interrupt_never_breaks_a_queue(number, code):
    body = f"""
        {LATER}
        box = queue.Queue()
        box.queue = type("Signals", (), {{"append": staticmethod(signal.raise_signal)}})
        box.put(number)
        print("put", box.mutex.locked(), flush=True)
        wait()
    """
    assert ended(body, number) == (code, "put False\n")


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_starting_a_thread_is_never_interrupted(number, code):
    body = f"""
        {LATER}
        start = threading._start_new_thread
        threading._start_new_thread = lambda *given: (signal.raise_signal(number), start(*given))
        threading.Thread(target=lambda: os.write(1, b"ran ")).start()
        os.write(1, b"started ")
        wait()
    """
    exit_code, output = ended(body, number)
    assert exit_code == code
    assert sorted(output.split()) == ["ran", "started"]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_finalizer_does_not_swallow_ctrl_c(number, code):
    body = """
        class Last:
            def __del__(self):
                signal.raise_signal(number)
                print("finalized", flush=True)
        Last()
        wait()
    """
    assert ended(body, number) == (code, "finalized\n")


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_waiting_thread_is_interrupted(number, code):
    body = """
        threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
        threading.Event().wait(600)
    """
    assert ended(body, number) == (code, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_alarm_is_left_when_python_ends(number):
    """The signal comes while threads are ended, where the handler would come again: but all is done by then."""
    program = f"""{BEGIN}
import atexit
atexit.register(lambda: print(signal.getitimer(signal.ITIMER_REAL)[0], signal.getsignal(number) is signal.SIG_DFL))
sys.exit(guarded(lambda: threading._register_atexit(signal.raise_signal, number)))"""
    done = subprocess.run([sys.executable, "-c", program, str(int(number))], timeout=600, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stdout) == (0, "0.0 True\n"), done.stderr


def test_a_process_that_ignores_ctrl_c_keeps_ignoring_it():
    program = f"{BEGIN}\nsys.exit(guarded(lambda: signal.raise_signal(number)))"
    done = subprocess.run(["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-c", program, "2"],
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600, check=False)
    assert done.returncode == 0


@pytest.mark.slow
def test_a_thousand_interruptions_of_saving_are_all_handled(tmp_path):
    body = f"""
        import pathlib, random
        from chainrule.storage import write_run
        chance, heard = random.Random(0), 0
        hear = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGPROF, lambda number, frame: hear(signal.SIGINT, frame))
        for _ in range(1000):
            signal.setitimer(signal.ITIMER_PROF, chance.uniform(0.0005, 0.004))
            try:
                for _ in range(100):
                    write_run(pathlib.Path({str(tmp_path / "run")!r}), lambda folder: None, replace=True)
            except KeyboardInterrupt:
                heard += 1
        print(heard, threading.active_count())
    """
    assert ended(body, signal.SIGINT) == (0, "1000 1\n")
