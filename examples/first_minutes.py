"""The first minutes: three kinds of model of Python's own documentation, held against each other, then asked to write.

Run it with `make demo`, or `python examples/first_minutes.py [BUDGET]`. It prints the command that does the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from chainrule.cli.compare import compare
from chainrule.cli.terminal.console import show_log_messages

KINDS = {"ngram": "counts which tokens followed the last four, and smooths the counts",
         "lstm": "a recurrent network that carries a memory along the text",
         "transformer": "looks back at all tokens of a window, by attention"}
FOLDER = Path("runs/demo")
WIDTH = 100


def main(budget: str = "40s") -> None:
    show_log_messages()
    print("Which model is right for this text? The text: the Python language reference (pydoc), 0.4 MB of English.\n"
          "A tenth of it is held out. The models, each trained from nothing, for the same time at most:\n")
    for name, what in KINDS.items():
        print(f"  {name:11} {what}")
    command = f"chainrule compare {' '.join(KINDS)} --data pydoc --budget {budget} --out {FOLDER} --advise"
    print(f"\n  {command}\n", flush=True)
    compare(recipes=list(KINDS), data=["pydoc"], budget=budget, out=FOLDER, advise=True, force=True)
    print("\nWhat each of them writes after the first words of held-out documents (it goes on after the bar):")
    samples = json.loads((FOLDER / "details.json").read_text(encoding="utf-8"))["samples"]
    for name in samples[0]["texts"]:
        print(f"\n  {name}")
        for sample in samples:
            print(f"    {shortened(sample['prompt'] + ' |' + sample['texts'][name][0])}")
    print("\nWith your own text: chainrule compare ngram lstm transformer --data YOUR.txt --budget 2m --out report")


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[:WIDTH]} …"


if __name__ == "__main__":
    main(*sys.argv[1:])
