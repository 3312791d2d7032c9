"""Has a program run by the server at a socket, as if it ran here: `warm_client.py SOCKET PYTHON STAND-IN WORDS...`.

Standard streams, folder and environment are handed over, signals are passed on, and the exit code is the program's.
What the server does not take is run by that Python, in the place of this process. Only built-in modules are imported,
as this is to start in some milliseconds.
"""

import _signal as signal
import _socket as socket
import array
import os
import select
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ask(door: socket.socket, argv: list[str], executable: str) -> None:
    """Sends what is to run."""
    umask = os.umask(0)
    os.umask(umask)
    program = {"argv": argv, "environment": dict(os.environ), "umask": umask, "executable": executable,
               "ignored": [int(number) for number in PASSED_ON if signal.getsignal(number) == signal.SIG_IGN]}
    text = repr(program).encode("utf-8", "surrogateescape")
    streams = array.array("i", [0, 1, 2, os.open(".", os.O_RDONLY)])
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
    door.sendmsg([len(text).to_bytes(8, "big")], rights)
    door.sendall(text)


def answer(door: socket.socket) -> int | None:
    """One number from the server; None when it has closed the connection."""
    text = b""
    while not text.endswith(b"\n"):
        piece = door.recv(1)
        if not piece:
            return None
        text += piece
    return int(text)


def pipe_of_signals() -> int:
    """Where the number of each signal that comes can be read: one that came just before a call would not end it."""
    pipe, end = os.pipe()
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end)
    for number in PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    return pipe


def main(path: str, python: str, executable: str, *argv: str) -> int:
    pipe, door = pipe_of_signals(), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.connect(path)
    ask(door, list(argv), executable)
    child = answer(door)
    if child is None:
        os.execv(python, [python, *argv])
    while door not in (ready := select.select([door, pipe], [], [])[0]):
        for number in os.read(pipe, 64) if ready else b"":
            os.kill(child, number)
    code = answer(door)
    if code is None:
        print("The warm Python has ended: see its log beside", path, file=sys.stderr)
        return 70
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
