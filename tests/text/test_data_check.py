"""`chainrule data check` and `chainrule corpora`: facts before training."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import corpus_of, lines_by_hand

from chainrule.errors import DataError
from chainrule.text.check import Tally, check
from chainrule.text.distinct import Distinct


def facts(data, **options):
    corpus = corpus_of(data, **options)
    return check(corpus.files[0], corpus.options)


def run(*arguments):
    code = "from chainrule.cli.app import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


@given(text=st.text(st.sampled_from("ab é\n\n\t\0☕\r"), min_size=1, max_size=32), size=st.integers(4, 30))
def test_counts_agree_with_the_definition_however_the_text_is_cut(text, size):
    tally = Tally()
    for chunk in corpus_of(text).chunks(size):
        tally.add(chunk)
    lines = lines_by_hand(text, keep_blank=True)
    filled = lines_by_hand(text)
    assert (tally.bytes, tally.characters, tally.lines) == (len(text.encode()), len(text), len(lines))
    assert tally.words == len(text.encode().replace(b"\0", b" ").split())
    assert tally.blank == len(lines) - len(filled)
    assert tally.duplicates() == len(filled) - len(set(filled))
    assert tally.longest == max(len(line.encode()) for line in lines)


def test_odd_characters_are_counted():
    found = facts(b"\xef\xbb\xbfa\0\x01b\r\nc\rd\n" + "\u2028\ufffd\ufffdx\u00a0y\n".encode())
    assert found["odd"] == {"NUL bytes": 1, "control bytes": 1, "CRLF line ends": 1, "CR without LF": 1,
                            "U+FFFD (replaced characters)": 2, "U+2028 (line separators)": 1,
                            "U+00A0 (no-break spaces)": 1, "files with a byte-order mark": 1}
    assert found["encoding"] == "UTF-8"
    assert facts("plain\n")["encoding"] == "ASCII"


def test_bad_bytes_are_a_problem_and_not_the_end():
    found = facts("h\u00e9llo w\u00f6rld\n".encode("latin-1"))
    assert found["encoding"] == "not UTF-8"
    assert "line 1, byte 1: 0xe9 is not UTF-8" in found["problem"]
    assert found["words"] == 2
    assert all("text.errors=replace" in row["command"] for row in found["suggestions"])


def test_a_line_that_is_not_kept_whole_is_measured_whole(monkeypatch):
    monkeypatch.setattr("chainrule.text.check.HELD", 10)
    tally = Tally()
    for chunk in corpus_of("x" * 100 + " y\n" + "z" * 50 + "\n").chunks(8):
        tally.add(chunk)
    assert (tally.longest, tally.lines, tally.words) == (102, 2, 3)


def test_blank_text_is_a_problem():
    assert facts(" \n\n")["problem"].endswith("there is no text in it, only white space.")
    assert facts("")["suggestions"] == []


def test_a_file_that_cannot_be_read_at_all_is_an_error(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_text("no gzip")
    with pytest.raises(DataError, match="damaged"):
        check(path)


def test_suggestions_fit_the_text():
    prose = {row["what"].split(",")[0] for row in facts("the cows eat grass\n" * 100_000)["suggestions"]}
    assert prose == {"words", "byte_pair", "bytes"}
    unspaced = {row["what"].split(",")[0] for row in facts("日本語の文章には空白がないので、" * 100)["suggestions"]}
    assert unspaced == {"characters_and_bytes", "bytes"}


@given(items=st.lists(st.binary(max_size=3), max_size=50))
def test_distinct_is_exact_while_there_is_room(items):
    distinct = Distinct()
    distinct.add(items)
    assert distinct.exact and distinct.count() == len(set(items))


def test_distinct_estimates_in_bounded_memory():
    distinct = Distinct(room=4096)
    for start in range(0, 100_000, 1000):
        distinct.add([b"%d" % i for i in range(start, start + 1000)] * 2)
    assert not distinct.exact and len(distinct.hashes) <= 4096
    assert abs(distinct.count() - 100_000) < 0.15 * 100_000  # 7 standard errors of 1.2/√4096


def test_long_names_do_not_widen_the_table(tmp_path):
    for number in range(4):
        (tmp_path / f"{'long-' * 12}{number}.txt").write_text("the cows eat grass\n")
    lines = run("data", "check", str(tmp_path / "*.txt")).stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("encoding"))
    assert " ".join(lines[:first]).endswith("2.txt and 1 more") and 1 < first < 8
    assert lines[first : first + 2] == ["encoding         ASCII", "files            4"]


def test_the_command_prints_one_json_object():
    done = run("data", "check", "pydoc", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["corpus"] == "pydoc" and found["words"] > 50_000 and found["problem"] is None


def test_the_command_says_what_is_wrong_and_fails(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 cr\xe8me\n")
    done = run("data", "check", str(tmp_path / "a.txt"))
    assert done.returncode == 1
    assert "encoding" in done.stdout and "not UTF-8" in done.stdout
    assert "chainrule: " in done.stderr and "line 1, byte 3: 0xe9" in done.stderr
    assert run("data", "check", str(tmp_path / "b.txt")).returncode == 1
    assert run("data", "check", "pydoc", "--errors", "ignore").returncode == 2


def test_built_in_corpora_are_listed_with_their_sizes():
    found = json.loads(run("corpora", "--json").stdout)["corpora"]
    assert found["pydoc"]["bytes"] > 300_000 and found["stdlib"]["files"] > 100
    assert "pydoc" in run("corpora").stdout
