"""`python -m chainrule` is the command line; Ctrl-C is answered in one line even while that is being loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Loads the command line and runs it."""
    try:
        from chainrule.cli.app import main as run
    except KeyboardInterrupt:
        print("chainrule: interrupted.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
