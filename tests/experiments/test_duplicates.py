"""Text that is in both parts is found and reported."""

from chainrule.experiments.duplicates import duplicates, sentence
from chainrule.text.corpora import open_corpus

LINE = b"a line of more than sixty bytes, which nobody writes twice by chance, does one"


def test_documents_and_long_lines_are_found(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the same short text\n")
    (tmp_path / "b.txt").write_bytes(b"something\n  " + LINE + b"\nshort line\n")
    held_out = [b"the same short text", b"before\n" + LINE + b"\nshort line\n", b"new " + LINE]
    found = duplicates(open_corpus(tmp_path), held_out)
    assert found == {"documents": 1, "lines": 1, "bytes": 19 + len(LINE) + 1,
                     "examples": [LINE.decode()[:80]]}
    said = sentence(found, 2 * found["bytes"])
    assert "1 document and 1 long line (50.0% of its bytes) are also in the training text" in said


def test_no_duplicates_give_no_note(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"unlike\n" * 3)
    found = duplicates(open_corpus(tmp_path), [b"another text", LINE])
    assert found == {"documents": 0, "lines": 0, "bytes": 0, "examples": []} and sentence(found, 100) is None
