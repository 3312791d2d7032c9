"""Every command and every line of Python in the documents runs, and prints what the documents show."""

import re

import pytest
from documents import DATA, DOCUMENTS, ROOT, SAME_PYDOC, blocks, matches, play, ran

RUNNABLE = [path for path in DOCUMENTS if {block.language for block in blocks(path)} & {"console", "python"}]
SLOW = [path for path in RUNNABLE if any("slow" in block.words for block in blocks(path))]


def check(path, folder, *, slow=False):
    for block, command, shown, printed in play(path, folder, slow=slow):
        if SAME_PYDOC or "pydoc" not in block.words:
            assert matches(shown, printed), "\n".join(
                [f"{path.name}:{block.line}: $ {command}", "--- shown", *shown, "--- printed", *printed])


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_a_document_shows_what_its_commands_print(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(path, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public data sets in ../shared/data")
@pytest.mark.parametrize("path", SLOW, ids=lambda path: path.name)
def test_a_document_shows_what_its_commands_print_on_the_public_data_sets(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(DATA)
    check(path, tmp_path, slow=True)


def test_the_readme_shows_what_make_demo_prints(tmp_path):
    """With a budget of a few steps: rows, explanations and who writes are the same, what was learned is not."""
    code, printed = ran(f"OMP_NUM_THREADS=1 python {ROOT / 'examples' / 'first_minutes.py'} 8ktok", tmp_path)
    assert code == 0, "\n".join(printed)
    shown = next(block.text for block in blocks(ROOT / "README.md") if block.language == "text").splitlines()
    fixed = [line for line in shown if not re.search(r"\d|^    \S|^(Note|Advice|No significant|All|best|report)", line)]
    assert len(fixed) > 8 and not [line for line in fixed if line not in printed]
    rows = {line.split("  ")[0] for line in shown if re.match(r"[a-z2 ]+  +\d\.\d", line)}
    assert rows == {line.split("  ")[0] for line in printed if re.match(r"[a-z2 ]+  +\d\.\d", line)} and len(rows) == 7
    assert "first_minutes.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_no_command_hides_in_a_block_that_is_not_run():
    """Commands stand in console blocks; `sh` blocks are for make, and name targets that the Makefile has."""
    targets = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    for path in DOCUMENTS:
        for block in blocks(path):
            assert block.language in {"console", "python", "text", "yaml", "toml", "sh"}, f"{path.name}:{block.line}"
            if block.language == "sh":
                for line in block.text.splitlines():
                    make, target = line.split()[:2]
                    assert make == "make" and any(rule.startswith(f"{target}:") for rule in targets), line
            if block.language in {"text", "yaml", "toml"}:
                assert not any(line.startswith("$ ") for line in block.text.splitlines()), f"{path.name}:{block.line}"


def test_the_convention_tells_other_output_from_the_same():
    assert matches(["a", "…", "z"], ["a", "b", "c", "z"]) and matches(["a", "…"], ["a"])
    assert matches(["size … bytes"], ["size 12 bytes"]) and matches(["seconds  total 1.0"], ["seconds  total 3.25"])
    assert not matches(["a"], ["a", "b"]) and not matches(["a", "…", "z"], ["a", "b"])
    assert not matches(["perplexity 12.34"], ["perplexity 12.35"])
