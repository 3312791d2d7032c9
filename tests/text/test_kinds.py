"""`data check` recognises DNA, proteins and source code, and suggests tokens for them."""

import inspect
import shlex
import subprocess
import sys

import pytest

from chainrule.text import check as checked
from chainrule.text.check import check

BASES = ">x\n" + "ACGTACGGTTAACCGT\n" * 200
C = "#include <stdio.h>\n\nint main(void) {\n    int i = 0;\n    while (i < 3) {\n        i++;\n    }\n    return i;\n"


def facts(folder, name, text):
    (folder / name).write_text(text)
    return check(folder / name)


def test_dna_is_recognised_by_name_and_content(tmp_path):
    found = facts(tmp_path, "a.fna", BASES)
    assert found["kind"] == "dna"
    assert found["kind_is"] == "sequences of bases (FASTA): A 25.0%, C 25.0%, G 25.0%, T 25.0%"
    assert [row["command"].split()[2] for row in found["suggestions"]] == ["dna", "ngram"]
    assert "tokenizer.name=characters" in found["suggestions"][1]["command"]
    plain = facts(tmp_path, "a.txt", BASES)
    assert plain["looks_like"][0]["what"] == "FASTA"
    assert plain["suggestions"] == [{"what": "as FASTA", "command": f"chainrule data check {tmp_path}/a.txt "
                                     "--format fasta"}]
    others = facts(tmp_path, "b.fna", ">x\nACGTNNNNacgt\n")
    assert others["kind_is"].endswith(", 4 others")


def test_proteins_are_no_dna(tmp_path):
    found = facts(tmp_path, "a.fasta", ">p\nMKVLAWFRLLPQEEDKWYHS\n")
    assert found["kind"] == "protein" and "tokenizer.name=characters" in found["suggestions"][0]["command"]


@pytest.mark.parametrize(("name", "text", "what"), [
    ("a.py", "x = 1\n", "source code (Python)"), ("a.rs", "fn main() {}\n", "source code (Rust)"),
    ("a.txt", inspect.getsource(checked), "source code (by its lines)"),
    ("b.txt", C * 3 + "}", "source code (by its lines)"),
    ("script", "#!/bin/sh\necho hello\n", "source code (by its lines)"),
])
def test_source_code_is_recognised_by_name_and_content(tmp_path, name, text, what):
    found = facts(tmp_path, name, text)
    assert (found["kind"], found["kind_is"]) == ("code", what)
    tokenizers = [row["what"].split(",")[0] for row in found["suggestions"]]
    assert tokenizers == ["byte_pair", "bytes"] and "white space is kept" in found["suggestions"][0]["what"]


@pytest.mark.parametrize("text", [
    "It was a bright cold day in April; the clocks were striking thirteen.\n" * 30,
    "if you go there, you will see\nfor the first time:\nreturn again\nimport taxes rose\n" * 10,
    "the <unk> of N\n a b c\n" * 30, "x = 1\n",
])
def test_prose_is_not_taken_for_code(tmp_path, text):
    assert facts(tmp_path, "a.txt", text)["kind"] is None


def test_built_in_corpora_are_what_they_are():
    assert check("pydoc")["kind"] is None


def test_every_suggestion_for_dna_can_be_run(tmp_path):
    for row in facts(tmp_path, "a.fna", BASES)["suggestions"]:
        done = subprocess.run([sys.executable, "-m", *shlex.split(row["command"])], cwd=tmp_path, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
    shown = subprocess.run([sys.executable, "-m", "chainrule", "data", "check", "a.fna"], cwd=tmp_path,
                           capture_output=True, text=True).stdout
    assert "kind             sequences of bases (FASTA): A 25.0%" in shown
