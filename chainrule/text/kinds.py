"""What kind of text a corpus is, where that changes how it is best cut into tokens: DNA, proteins, source code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.text.corpora.fasta import BASES
from chainrule.text.corpora.packing import unpacked_name
from chainrule.text.corpora.strands import MUCH, is_fasta

LANGUAGES = {"Python": "py pyi", "C": "c h", "C++": "cc cpp cxx hpp hh", "C#": "cs", "Java": "java",
             "JavaScript": "js mjs cjs jsx", "TypeScript": "ts tsx", "Go": "go", "Rust": "rs", "Ruby": "rb",
             "PHP": "php", "shell": "sh bash zsh", "Perl": "pl pm", "R": "r", "Julia": "jl", "Swift": "swift",
             "Kotlin": "kt kts", "Scala": "scala", "Lua": "lua", "SQL": "sql", "Haskell": "hs", "OCaml": "ml mli",
             "Lisp": "lisp el clj scm", "Fortran": "f f90 f95", "CUDA": "cu cuh", "assembly": "s asm"}
BY_ENDING = {f".{ending}": name for name, endings in LANGUAGES.items() for ending in endings.split()}
STATEMENT = re.compile(  # what a line of a program begins or ends with, and a line of prose hardly ever does
    rb"^\s*(#include\b|#define\b|import [\w.]+( as \w+)?;?\s*$|from [\w.]+ import\b|def \w+\s*\("
    rb"|class \w+.*[:{]\s*$|\s+return\b"
    rb"|(public|private|static|const|let|var|fn|func|function|package|using|use|struct|enum|impl|namespace)\b.*[{;(=]"
    rb"|@\w+|//|/\*|\}|\{|elif |else:|try:|except\b.*:|for .*[:{]\s*$|if .*[:{]\s*$|while .*[:{]\s*$)"
    rb"|[;{]\s*$|^\s*[\w.]+\s*(=|\+=|:=)\s*\S|^\s*[\w.]+\(.*\)\s*$")
SHARE = 0.4  # of the lines that are not blank
LEAST = 8  # such lines, before anything is said
SAMPLE = 1 << 16  # bytes that are looked at


@dataclass(frozen=True)
class Kind:
    """`name` as `data check --json` has it, and in words what there is of it."""

    name: str  # "dna", "protein" or "code"
    what: str


def kind_of(corpus: Any, counts_of_bytes: np.ndarray) -> Kind | None:
    """None for prose and everything else."""
    if is_fasta(corpus):
        return _of_letters(counts_of_bytes)
    language = _by_name(corpus.files)
    if language is None and _looks_like_code(_beginning(corpus)):
        language = "by its lines"
    return None if language is None else Kind("code", f"source code ({language})")


def _of_letters(counts: np.ndarray) -> Kind:
    """Sequences of bases with the share of each, or of amino acids."""
    total = max(1, int(counts.sum()))
    if sum(int(counts[base]) for base in BASES) < MUCH * total:
        return Kind("protein", "sequences of amino acids (FASTA)")
    shares = [f"{chr(base)} {counts[base] / total:.1%}" for base in b"ACGTU" if counts[base]]
    others = total - sum(int(counts[base]) for base in b"ACGTU")
    return Kind("dna", f"sequences of bases (FASTA): {', '.join(shares)}" + (f", {others:,} others" if others else ""))


def _by_name(files: Sequence[str]) -> str | None:
    """The language that most files have by their endings; None where fewer than half of them have one."""
    found = Counter(BY_ENDING.get(Path(unpacked_name(Path(name))).suffix.lower()) for name in files)
    language, count = found.most_common(1)[0]
    return language if language is not None and 2 * count >= len(files) else None


def _beginning(corpus: Any) -> bytes:
    held, size = [], 0
    for chunk in corpus.chunks(SAMPLE):
        held.append(chunk.data)
        size += len(chunk.data)
        if size >= SAMPLE:
            break
    return b"".join(held)[:SAMPLE]


def _looks_like_code(text: bytes) -> bool:
    """A first line that names an interpreter, or many lines that begin or end as statements do."""
    if text.startswith(b"#!") and b"/" in text.split(b"\n", 1)[0]:
        return True
    lines = [line for line in text.split(b"\n") if line.strip()]
    fitting = sum(STATEMENT.search(line[:1000]) is not None for line in lines)
    return fitting >= max(LEAST, SHARE * len(lines))
