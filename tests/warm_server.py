"""A Python that has imported torch and the whole package: each program that it is asked for runs in a forked copy.

It is started by warm_python.py with the path of a socket to listen at, and ends when its standard input does. A client
(warm_client.py) sends its arguments, environment, working folder, standard streams, umask and ignored signals; the
copy takes them over, runs the program as `python` would, and ends as `python` does. No thread may have been started
and no array operation run before a fork, so this process imports and does nothing else.
"""

import ast
import atexit
import gc
import importlib
import io
import locale
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path

# read while an interpreter or a library starts: a program with other values needs a Python of its own
AT_START = ("PYTHON", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "NUMBA_", "TORCH", "PYTORCH", "CUDA", "LD_", "LC_",
            "LANG", "MALLOC")
ONE_BY_ONE = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONUTF8", "GOMP_SPINCOUNT", "OPENBLAS_THREAD_TIMEOUT",
              "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TORCHINDUCTOR_CACHE_DIR")  # scikit-learn and torch set these
ROOT = str(Path(__file__).parents[1])
START = dict(os.environ)
LOCALE = locale.setlocale(locale.LC_CTYPE)
UTF8_ANYWAY = locale.nl_langinfo(locale.CODESET) == "UTF-8"  # without UTF-8 mode, which this process is in
BASE = sys.path[1 + len([*filter(None, START.get("PYTHONPATH", "").split(os.pathsep))]):]


def preload() -> None:
    """With what chainrule.__main__ sets before it imports anything."""
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import torch  # noqa: F401

    import chainrule
    for module in pkgutil.walk_packages(chainrule.__path__, "chainrule."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").startswith("chainrule"):
                    raise  # others are packages that this machine need not have
    gc.collect()
    gc.freeze()
    assert len(os.listdir("/proc/self/task")) == 1, "a thread was started: forked copies could wait for it forever"


def can_serve(program: dict) -> bool:
    """Whether a new interpreter would have started as this one did."""
    def facts(environment: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in environment.items()
                if name.startswith(AT_START) and name not in ONE_BY_ONE}

    def path(environment: dict[str, str]) -> list[str]:
        return [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder not in ("", ROOT)]

    environment, argv = program["environment"], program["argv"]
    utf8 = UTF8_ANYWAY or environment.get("PYTHONUTF8") == "1"
    known = utf8 and bool(argv) and (argv[0] in ("-m", "-c") and len(argv) > 1 or not argv[0].startswith("-"))
    return known and facts(environment) == facts(START) and path(environment) == path(START)


def next_program(listener: socket.socket) -> dict:
    """Answers clients until standard input ends; returns only in a forked copy, with what that shall run."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)
    running: dict[int, tuple[int, socket.socket]] = {}  # by a descriptor of the process: its id, and who waits for it
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                client, _ = listener.accept()
                program, streams = received(client)
                if not program or not can_serve(program):
                    client.close()
                elif child := os.fork():
                    tell(client, child)
                    process = os.pidfd_open(child)
                    running[process] = child, client
                    selector.register(process, selectors.EVENT_READ)
                    selector.register(client, selectors.EVENT_READ, process)
                else:
                    selector.close()
                    for each in [listener, client, *(waiting for _, waiting in running.values())]:
                        each.close()
                    for process in running:
                        os.close(process)
                    return {**program, "streams": streams}
                for stream in streams:
                    os.close(stream)
            elif key.fd == 0:
                for child, _ in running.values():
                    os.kill(child, signal.SIGKILL)
                os._exit(0)
            elif key.fd in running:
                child, client = running.pop(key.fd)
                _, status = os.waitpid(child, 0)
                selector.unregister(key.fd)
                os.close(key.fd)
                if client.fileno() in selector.get_map():
                    selector.unregister(client)
                tell(client, os.waitstatus_to_exitcode(status))
                client.close()
            elif key.data in running and running[key.data][1] is key.fileobj:  # who waits for it has been killed
                os.kill(running[key.data][0], signal.SIGKILL)
                selector.unregister(key.fileobj)


def tell(client: socket.socket, number: int) -> None:
    with suppress(OSError):  # it has been killed: its end of the connection says so next
        client.sendall(b"%d\n" % number)


def received(client: socket.socket) -> tuple[dict, list[int]]:
    """A program to run, and its streams with its folder as the fourth; nothing if the client is gone."""
    first, streams, _, _ = socket.recv_fds(client, 8, 4)
    if len(first) < 8:
        return {}, streams
    size, text = int.from_bytes(first, "big"), b""
    while len(text) < size:
        piece = client.recv(size - len(text))
        if not piece:
            return {}, streams
        text += piece
    return ast.literal_eval(text.decode("utf-8", "surrogateescape")), streams


def take_over(program: dict) -> None:
    """This process becomes one that a client's shell would have started."""
    *streams, folder = program["streams"]
    os.fchdir(folder)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in program["streams"]:
        os.close(stream)
    os.umask(program["umask"])
    os.environ.clear()
    os.environ.update(program["environment"])
    ignored = signal.SIGINT in program["ignored"]
    signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    for number in {signal.SIGTERM, signal.SIGHUP} & set(program["ignored"]):
        signal.signal(number, signal.SIG_IGN)
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    lenient = os.environ.get("PYTHONUTF8") == "1" or LOCALE.split(".")[0] in ("C", "POSIX")
    errors = "surrogateescape" if lenient else "strict"
    sys.stdin = sys.__stdin__ = reopened(0, "r", errors, unbuffered=False)
    sys.stdout = sys.__stdout__ = reopened(1, "w", errors, unbuffered)
    sys.stderr = sys.__stderr__ = reopened(2, "w", "backslashreplace", unbuffered)
    sys.executable = program["executable"]
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *BASE]


def reopened(number: int, mode: str, errors: str, unbuffered: bool) -> io.TextIOWrapper:
    """A standard stream as a new interpreter in UTF-8 mode has it."""
    raw = io.FileIO(number, mode, closefd=False)
    buffer = raw if unbuffered else io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    lines = not unbuffered and (number == 2 or os.isatty(number))
    text = io.TextIOWrapper(buffer, "utf-8", errors, line_buffering=lines, write_through=unbuffered)
    text.mode = mode
    return text


def run(argv: list[str]) -> None:
    """What `python` does with these arguments."""
    what, *rest = argv
    if what == "-c":
        sys.argv, sys.path[:0] = ["-c", *rest[1:]], [""]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    elif what == "-m":
        sys.argv, sys.path[:0] = rest, [os.getcwd()]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:0] = argv, [str(Path(what).resolve().parent)]
        runpy.run_path(what, run_name="__main__")


def exit_code(argv: list[str]) -> int:
    """Runs a program to its end. Taking a whole interpreter apart would take longer than most programs: what was to be
    done at exit is done, and the rest is left to the system."""
    code: object = 0
    try:
        run(argv)
    except SystemExit as exit:
        code = exit.code
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed, by the program or by who read it
            code = code or 120
    return code or 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(sys.argv[1])
        door.listen(64)
        print("ready", flush=True)
        given = next_program(door)
    take_over(given)
    code = exit_code(given["argv"])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)
