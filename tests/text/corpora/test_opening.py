"""What a user may name, and what is said when there is nothing there."""

import gzip

import pytest
from texts import corpus_of, text_of

from chainrule.errors import DataError, UsageError
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions


def test_a_folder_is_read_recursively_in_sorted_order(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name, text in [("c.txt", "3"), ("a.txt", "1"), ("b/x.jsonl", '{"text": "2"}'),
                       ("notes.bin", "no"), (".hidden/a.txt", "no")]:
        (tmp_path / name).write_text(text)
    assert text_of(open_corpus(tmp_path)) == b"123"


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\xe9"


def test_what_is_not_text_is_left_out_of_a_folder_and_named(tmp_path, caplog):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "run").mkdir()
    for name, data in {"a.txt": b"1", "b.txt": bytes(range(256)) * 9, "c.txt.gz": gzip.compress(bytes(range(256)) * 9),
                       "d.txt": PNG, "e.txt.gz": gzip.compress(b"2"), "sub/f.pyc": b"\0" * 99, "sub/g.md": b"hay",
                       ".git/h.txt": b"no", ".i.txt": b"no", "run/MANIFEST.json": b"{}", "run/m.jsonl": b"no"}.items():
        (tmp_path / name).write_bytes(data)
    assert text_of(open_corpus(tmp_path)) == b"12"
    assert caplog.messages == [f"{tmp_path}: 5 of 7 files left out, which are not text or have another ending: b.txt, "
                               "c.txt.gz, d.txt and 2 more; 2 hidden."]


def test_what_is_not_text_is_left_out_of_a_pattern_and_refused_by_its_name(tmp_path, caplog):
    for name, data in {"a": b"1", "b": PNG, "c": b"2"}.items():
        (tmp_path / name).write_bytes(data)
    assert text_of(open_corpus(f"{tmp_path}/*")) == b"12"
    assert caplog.messages == [f"{tmp_path}/*: 1 of 3 files left out, which are not text: {tmp_path}/b."]
    with pytest.raises(DataError, match="b: this is a PNG file, expected text."):
        text_of(open_corpus(tmp_path / "b"))
    with pytest.raises(DataError, match="none of the 1 files that match this pattern is text: .*/b"):
        open_corpus(f"{tmp_path}/[b]")


def test_a_folder_without_known_endings_says_what_there_is(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("hay")
    with pytest.raises(DataError) as error:
        open_corpus(tmp_path)
    assert str(error.value).endswith(f"Others: sub/a.md. Name them by a pattern, such as '{tmp_path}/**/*.md'.")
    assert text_of(open_corpus(f"{tmp_path}/**/*.md")) == b"hay"
    assert text_of(open_corpus(tmp_path, TextOptions(format="txt"))) == b"hay"


def test_a_packed_file_of_a_folder_that_was_cut_is_an_error(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"hay" * 99)[:-9])
    with pytest.raises(DataError, match="a.txt.gz: the .gz file was cut"):
        open_corpus(tmp_path)


def test_a_glob_is_read_in_sorted_order(tmp_path):
    for name in ("b.en", "a.en", "a.de"):
        (tmp_path / name).write_text(name)
    assert text_of(open_corpus(f"{tmp_path}/*.en")) == b"a.enb.en"


def test_several_specs_are_read_one_after_the_other(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    assert text_of(open_corpus([tmp_path / "b", tmp_path / "a"])) == b"ba"


@pytest.mark.parametrize("name, words", [("pydoc", b"statement"), ("stdlib", b"import")])
def test_built_in_corpora_need_no_file(name, words):
    corpus = open_corpus(name)
    assert corpus.size > 100_000
    assert words in next(chunk.data for chunk in corpus.chunks() if len(chunk.data) > 10_000)


def test_a_file_named_like_a_built_in_is_the_file(tmp_path, monkeypatch):
    (tmp_path / "pydoc").write_text("mine")
    monkeypatch.chdir(tmp_path)
    assert text_of(open_corpus("pydoc")) == b"mine"


def test_a_missing_file_is_an_error_with_a_suggestion(tmp_path):
    (tmp_path / "train.txt").write_text("hay")
    with pytest.raises(DataError, match=r"trian\.txt: no such file or folder.* Did you mean 'train\.txt'\?"):
        open_corpus(tmp_path / "trian.txt")
    with pytest.raises(DataError, match=r"pydok: .* Did you mean 'pydoc'\?"):
        open_corpus("pydok")
    with pytest.raises(DataError, match=r"Built-in: pydoc, stdlib\."):
        open_corpus(tmp_path / "nothing" / "like" / "it")


def test_a_pattern_or_folder_without_texts_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no file matches this pattern"):
        open_corpus(f"{tmp_path}/*.txt")
    with pytest.raises(DataError, match=r"no text in this folder has a known ending \(\.txt, \.jsonl"):
        open_corpus(tmp_path)
    with pytest.raises(DataError, match="no corpus was named"):
        open_corpus([])


def test_a_name_that_no_file_can_have_is_an_error():
    with pytest.raises(DataError, match=r"cannot be read \(File name too long\)"):
        open_corpus("x" * 5000)
    with pytest.raises(DataError, match="an empty name: no such file or folder"):
        open_corpus("")


def test_a_file_that_goes_away_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("hay")
    corpus = open_corpus(tmp_path / "a.txt")
    (tmp_path / "a.txt").unlink()
    for ask in (corpus.fingerprint, lambda: text_of(corpus), lambda: corpus.size):
        with pytest.raises(DataError, match=r"a\.txt: cannot be read \(No such file or directory\)"):
            ask()


def test_a_fingerprint_follows_content_and_options_and_not_the_name(tmp_path):
    for name, text in [("a.txt", "hay"), ("b.txt", "hay"), ("c.txt", "corn")]:
        (tmp_path / name).write_text(text)
    one, same, other = (open_corpus(tmp_path / name).fingerprint() for name in ("a.txt", "b.txt", "c.txt"))
    assert one == same != other
    assert open_corpus(tmp_path / "a.txt", TextOptions(errors="replace")).fingerprint() != one


def test_a_bad_byte_is_named_by_file_line_and_offset():
    with pytest.raises(DataError, match=r"one\.txt: line 2, byte 7: 0xe9 is not UTF-8\. Probably ISO-8859-1: convert "
                                        r"with iconv -f ISO-8859-1 .*text\.errors=replace"):
        text_of(corpus_of("plain\nh\u00e9llo w\u00f6rld\n".encode("latin-1")))


@pytest.mark.parametrize("encoding, name", [("cp1251", "CP1251"), ("cp1252", "CP1252")])
def test_the_probable_encoding_is_named(encoding, name):
    text = {"cp1251": "Съешь ещё этих мягких французских булок, да выпей чаю. " * 3, "cp1252": "“quotes” — and a dash"}
    with pytest.raises(DataError, match=f"Probably {name}"):
        text_of(corpus_of(text[encoding].encode(encoding)))


def test_the_offset_of_a_bad_byte_counts_the_byte_order_mark_and_all_chunks():
    data = b"\xef\xbb\xbf" + b"0123456\n" * 10 + b"ok \xff\n"
    with pytest.raises(DataError, match=r"line 11, byte 86: 0xff"):
        list(corpus_of(data).chunks(16))


def test_bad_bytes_are_replaced_when_asked():
    assert text_of(corpus_of(b"h\xe9llo\n", errors="replace")) == "h\ufffdllo\n".encode()


@pytest.mark.parametrize("encoding, mark", [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")])
def test_utf_16_is_called_by_its_name(encoding, mark):
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    with pytest.raises(DataError, match=rf"the file is {name}, expected UTF-8\. Convert it with: iconv -f {name}"):
        text_of(corpus_of(mark + "some text\n".encode(encoding)))


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_a_binary_file_is_refused(errors):
    with pytest.raises(DataError, match=r"one\.txt: the file looks binary \(\d+% control bytes\)"):
        text_of(corpus_of(bytes(range(256)) * 20, errors=errors))


def test_a_few_control_bytes_are_text():
    assert text_of(corpus_of(b"a\0b\x01 c\n" * 3)) == b"a\0b\x01 c\n" * 3


def test_standard_input_and_lists_of_words_are_refused_with_what_to_do():
    with pytest.raises(DataError, match="^-: standard input, expected a file, since text is read more than once"):
        open_corpus("-")
    with pytest.raises(UsageError, match="the text is .'a', 'b'., expected a path, .* Write sentences to a file"):
        open_corpus([["a", "b"]])
