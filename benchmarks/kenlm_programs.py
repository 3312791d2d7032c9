"""KenLM's own programs and ours as whole processes, in turn within one run: estimating, scoring a text, starting.

Caches of ours are stated with each row. "first ever" compiles the kernels, hashes the model and encodes the text;
"new text" has kernels compiled and the model's hash remembered; "same text" has its ids in the cache too.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from measured import Cost, measured

from chainrule.cli.terminal.console import table

NAMES = ("lmplz", "build_binary", "query")
CHAINRULE = (sys.executable, "-m", "chainrule")


class Beside:
    """One text and one order; what each program makes of them lies in `folder`."""

    def __init__(self, programs: dict[str, str], text: Path, order: int, folder: Path):
        self.programs, self.text, self.order, self.folder = programs, text, order, folder
        self.run, self.arpa, self.binary = folder / "default", folder / "lmplz.arpa", folder / "probing.bin"
        self.ours = {"XDG_CACHE_HOME": str(folder / "cache-queries"), "NUMBA_CACHE_DIR": str(folder / "kernels")}

    def estimation(self, rounds: int) -> None:
        """Text in, a model out that can be queried at once; the text is new to our cache in every round."""
        best: dict[str, Cost] = {}
        for turn in range(rounds):
            self._forget_text()
            train = ("train", "ngram", "--data", str(self.text), "--out", str(self.run), "--force",
                     f"model.order={self.order}")
            cost = measured([*CHAINRULE, *train], env=self.ours)
            _keep(best, "chainrule train, first ever" if turn == 0 else "chainrule train, new text", cost)
            _keep(best, "lmplz -S 1G", measured([self.programs["lmplz"], "-o", str(self.order), "-S", "1G", "--text",
                                                 str(self.text), "--arpa", str(self.arpa)]))
            _keep(best, "build_binary probing", measured([self.programs["build_binary"], "probing", str(self.arpa),
                                                          str(self.binary)]))
        theirs = best["lmplz -S 1G"].cpu + best["build_binary probing"].cpu
        _show("estimation", best, {name: theirs for name in best if name.startswith("chainrule")},
              "CPU, lmplz + build_binary over ours", inverse=True)

    def queries(self, text: Path, rounds: int) -> None:
        """The same lines from the same file, with all that each program prints."""
        tokens = sum(len(line.split()) + 1 for line in text.open("rb"))
        query, out = (self.programs["query"], str(self.binary)), self.folder / "printed"
        best: dict[str, Cost] = {}
        for turn in range(rounds + 1):
            for name, options in (("query", ()), ("query -v sentence", ("-v", "sentence")),
                                  ("query -v summary", ("-v", "summary"))):
                command = [query[0], *options, query[1]]
                _keep(best, name, measured(command, stdin=text, stdout=out))
            state = "new text" if turn else "first ever"
            _keep(best, f"chainrule score, {state}", self._ours("score", str(text), stdout=out))
            self._forget_text()
            for cache in (state, "same text"):
                _keep(best, f"chainrule evaluate, {cache}", self._ours("evaluate", "--data", str(text), stdout=out))
        peers = {name: best["query -v sentence" if "score" in name else "query -v summary"].cpu
                 for name in best if name.startswith("chainrule")}
        _show(f"{tokens:,} tokens of {text.name}", best, peers, "CPU, ours over query -v sentence or summary")

    def start_up(self, rounds: int) -> None:
        """The same command for one short line: what it takes to begin."""
        best: dict[str, Cost] = {}
        line, out = self.folder / "line.txt", self.folder / "printed"
        line.write_text("the company said\n", encoding="utf-8")
        for _ in range(rounds):
            _keep(best, "chainrule score", self._ours("score", str(line), stdout=out))
            _keep(best, "chainrule evaluate --bootstrap 0", self._ours("evaluate", "--data", str(line), "--bootstrap",
                                                                       "0", stdout=out))
            _keep(best, "query", measured([self.programs["query"], str(self.binary)], stdin=line, stdout=out))
        _show("one line", best, {}, "")

    def _ours(self, verb: str, *words: str, stdout: Path) -> Cost:
        return measured([*CHAINRULE, verb, str(self.run), *words], env=self.ours, stdout=stdout)

    def _forget_text(self) -> None:
        shutil.rmtree(Path(self.ours["XDG_CACHE_HOME"]) / "chainrule" / "encoded", ignore_errors=True)


def found(folder: str | None) -> dict[str, str] | None:
    """KenLM's three programs: in the folder given, where it was built, or among those installed."""
    places = [] if folder is None else [Path(folder) / each for each in ("", "bin", "build/bin")]
    path = ":".join(map(str, places)) if places else None
    programs = {name: where for name in NAMES if (where := shutil.which(name, path=path))}
    if len(programs) == len(NAMES):
        return programs
    if folder is None:
        return None
    missing = ", ".join(name for name in NAMES if name not in programs)
    sys.exit(f"--kenlm = {folder}: no program {missing} in it, nor in its bin or build/bin. Build KenLM there, as its "
             "file BUILDING says.")


def _keep(best: dict[str, Cost], name: str, cost: Cost) -> None:
    if name not in best or cost.cpu < best[name].cpu:
        best[name] = cost


def _show(title: str, best: dict[str, Cost], peers: dict[str, float], compared: str, *, inverse: bool = False) -> None:
    rows = []
    for name, cost in best.items():
        ratio = "" if name not in peers else f"{peers[name] / cost.cpu if inverse else cost.cpu / peers[name]:.2f}"
        rows.append((name, f"{cost.cpu:.2f}", f"{cost.wall:.2f}", f"{cost.memory / 1e6:.0f}", ratio))
    table([title, "CPU s", "wall s", "peak MB", compared], rows)
    print()
