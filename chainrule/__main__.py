"""`python -m chainrule` is the command line; Ctrl-C ends it with one line even while it is still loading."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Loads and runs the command line.

    OpenMP's threads, which torch computes with, wait for each other by spinning: where another program wants the same
    cores, a step can take several times as long. They spin for a short while and then sleep, unless the user has set
    GOMP_SPINCOUNT; on free cores that costs nothing (sleeping at once costs a quarter of the speed).
    NumPy's own threads (OpenBLAS) would spin for 30 ms after they start, which a command without matrix products pays
    for nothing; a millisecond is as fast where there are products.
    Pydantic looks through all installed packages for plug-ins of its own, of which nothing here makes use: it is told
    not to, as that takes a tenth of the time in which a command starts.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")  # 2²⁰ cycles
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(50_000, 10, 10)  # what is imported stays: looking through it for garbage took a tenth of the start
    try:
        from chainrule.cli.app import main as run
    except KeyboardInterrupt:
        print("chainrule: interrupted.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
