"""The split that all share: the same in every process, never empty, whatever the text looks like."""

from dataclasses import asdict

import pytest

from chainrule.errors import DataError
from chainrule.experiments.holdout import Source, has_text, of_single_lines, piece, source, texts
from chainrule.text.corpora.corpus import documents
from chainrule.text.options import TextOptions


def halves(path, fraction=0.0, **more):
    found, notes = source(path, None, TextOptions(), fraction, 0, **more)
    return *Source(**asdict(found)).halves(), notes  # as another process makes them from plain values


def whole(corpus):
    return b"".join(chunk.data for chunk in corpus.chunks())


@pytest.mark.parametrize("text", [
    "one line only of a few words that has no end of line", "one line with an end\n", "a\nb\nc\n", "word", "áéíóúüñ",
    "\n\n  two words  \n\n", "\n".join(f"line number {i}" for i in range(40))])
def test_every_text_of_two_characters_has_two_parts_that_are_the_whole(tmp_path, text):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    train, held_out, _ = halves(tmp_path / "text.txt")
    assert has_text(train) and has_text(held_out)
    assert sorted(whole(train) + whole(held_out)) == sorted(text.encode())
    assert train.fingerprint() != held_out.fingerprint()
    assert whole(train).decode() + whole(held_out).decode()  # no character is cut


def test_a_part_of_a_longer_document_is_not_called_a_document(tmp_path):
    line = "a line of a book that goes on and on for a while\n"
    for name, text in {"book": line * 9000, "story": line * 900, "sentence": line[:-1]}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    for name in "ab":
        (tmp_path / name).mkdir()
    for number in range(60):
        (tmp_path / "a" / f"{number}.txt").write_text(line * 120)
        (tmp_path / "b" / f"{number}.txt").write_text(line * (900 if number == 30 else 90))
    names = ("book.txt", "story.txt", "sentence.txt", "a", "b")
    assert [piece(halves(tmp_path / name)[1]) for name in names] == ["block", "line", "block", "document", "block"]
    assert piece(source(tmp_path / "a", tmp_path / "book.txt", TextOptions(), 0.0, 0)[0].halves()[1]) == "document"


def test_a_single_line_gives_its_last_words(tmp_path):
    words = " ".join(f"w{i}" for i in range(200))
    (tmp_path / "text.txt").write_text(words, encoding="utf-8")
    train, held_out, _ = halves(tmp_path / "text.txt")
    assert whole(train) + whole(held_out) == words.encode()
    assert whole(held_out).startswith(b"w1") and 15 <= len(whole(held_out).split()) <= 25
    assert [chunk.ends_document for chunk in held_out.chunks()][-1]
    assert [whole(train)] == [document.text().encode() for document in documents(train)]


def test_held_out_single_lines_are_reported(tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text(f"document {number} has a line\n")
    assert of_single_lines(halves(tmp_path)[1]) is None  # a line is all there is of a document
    (tmp_path / "long.txt").write_text("".join(f"line {number} of one document\n" for number in range(400)))
    assert "single lines all over it are held out" in of_single_lines(halves(tmp_path / "long.txt")[1])
    (tmp_path / "line.txt").write_text("only one line of a few words")
    assert of_single_lines(halves(tmp_path / "line.txt")[1]) is None


@pytest.mark.parametrize("text", ["", "x", " \n "])
def test_less_than_two_characters_are_refused(tmp_path, text):
    (tmp_path / "text.txt").write_text(text)
    with pytest.raises(DataError, match="expected at least two characters|no text"):
        halves(tmp_path / "text.txt")


def test_at_most_eight_megabytes_of_a_large_text_are_held_out(tmp_path, monkeypatch):
    from chainrule.experiments import holdout

    monkeypatch.setattr(holdout, "MOST", 5_000)
    (tmp_path / "text.txt").write_text("".join(f"a line of text with the number {i}\n" for i in range(20_000)))
    train, held_out, notes = halves(tmp_path / "text.txt")
    assert len(whole(held_out)) < 20_000 < len(whole(train)) and "0.7% of the text is held out" in notes[0]
    _, held_out, notes = halves(tmp_path / "text.txt", fraction=0.5)
    assert len(whole(held_out)) > 300_000 and notes == []


def test_documents_are_whole_and_blank_ones_left_out(tmp_path):
    for name, text in (("a", "first\n"), ("b", " \n"), ("c", "third")):
        (tmp_path / f"{name}.txt").write_text(text)
    found, _ = source(tmp_path / "a.txt", tmp_path, TextOptions(), 0.0, 0)
    assert texts(found.halves()[1]) == [b"first\n", b"third"]
