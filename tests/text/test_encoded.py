"""Encoded corpora: flat ids on disk, made once for the same content."""

import gzip
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from texts import corpus_of, measured

from chainrule.errors import DataError, StorageError
from chainrule.recipe.registry import build
from chainrule.text import cache
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.formats import FORMATS, read_text
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions
from chainrule.text.split import split
from chainrule.verbs.train import train

OPTIONS = TextOptions()


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "chainrule" / "encoded"


def words(text, **options):
    return fit_and_encode(corpus_of(text), build("text/tokenizers", {"name": "words", **options}), OPTIONS)


def test_units_follow_each_other_with_their_end_ids():
    _, encoded = words("cows eat\n\ngrass")
    assert encoded.ids.tolist() == [3, 4, 2, 5, 2]
    assert encoded.ends.tolist() == [3, 5]
    assert encoded.bytes.tolist() == [9, 5]
    assert encoded.units == 2
    assert encoded.unit(1).tolist() == [5, 2]


def test_ids_are_memory_mapped_and_as_narrow_as_the_vocabulary_allows():
    _, encoded = words("hay")
    assert isinstance(encoded.ids, np.memmap) and encoded.ids.dtype == np.uint16
    _, encoded = words(" ".join(f"w{i}" for i in range((1 << 16) - 3)))
    assert encoded.ids.dtype == np.uint16 and encoded.ids.max() == (1 << 16) - 1
    _, encoded = words(" ".join(f"w{i}" for i in range((1 << 16) - 2)))
    assert encoded.ids.dtype == np.int32 and encoded.ids.max() == 1 << 16


def test_the_same_content_is_encoded_once(own_cache):
    words("hay and corn")
    (folder,) = own_cache.iterdir()
    made = (folder / "ids").stat().st_mtime_ns
    words("hay and corn")
    assert (folder / "ids").stat().st_mtime_ns == made
    words("hay and corn", min_count=2)
    words("hay and grass")
    assert len(list(own_cache.iterdir())) == 3


def test_a_damaged_folder_in_the_cache_is_made_again(own_cache):
    _, first = words("hay and corn")
    expected = first.ids.tolist()
    (folder,) = own_cache.iterdir()
    (folder / "ids").write_bytes(b"\0")
    assert words("hay and corn")[1].ids.tolist() == expected


@pytest.mark.parametrize("name", ["ids", "ends", "bytes", "facts.json", "tokenizer.json", "checksums.json"])
def test_one_flipped_bit_in_the_cache_is_found_and_the_folder_made_again(own_cache, name):
    _, first = words("hay and corn")
    expected = first.ids.tolist()
    (folder,) = own_cache.iterdir()
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    tokenizer, second = words("hay and corn")
    assert second.ids.tolist() == expected and tokenizer.decode(second.unit(0)[:-1]) == "hay and corn"
    assert (folder / name).read_bytes() == whole


def growing(path, monkeypatch, more=b"and then a cat came\n"):
    """The file grows once, while its text is read."""
    waiting = [more]

    def read(path, options, size):
        for chunk in read_text(path, options, 64):
            if waiting:
                with path.open("ab") as stream:
                    stream.write(waiting.pop())
            yield chunk

    monkeypatch.setitem(FORMATS, ".txt", read)


@pytest.mark.parametrize("held_out", [0, 0.25])
def test_a_file_that_grows_while_it_is_read_is_refused_and_not_cached(own_cache, tmp_path, monkeypatch, held_out):
    path, original = tmp_path / "copy.txt", tmp_path / "original.txt"
    for each in (path, original):
        each.write_text("cows eat grass\n" * 200)
    corpus = open_corpus(path)
    corpus = split(corpus, held_out)[0] if held_out else corpus
    growing(path, monkeypatch)
    with pytest.raises(DataError, match=r"copy.txt: changed while it was read. Try again when nothing writes to it."):
        fit_and_encode(corpus, build("text/tokenizers", "words"), OPTIONS)
    assert list(own_cache.iterdir()) == []
    tokenizer, encoded = fit_and_encode(open_corpus(original), build("text/tokenizers", "words"), OPTIONS)
    assert encoded.ids.tolist() == [3, 4, 5, 2] * 200 and tokenizer.vocabulary_size == 6
    _, grown = fit_and_encode(open_corpus(path), build("text/tokenizers", "words"), OPTIONS)
    assert len(grown.ids) == 4 * 200 + 6


def test_a_file_that_changes_between_its_fingerprint_and_its_reading_is_refused(own_cache, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("cows eat grass\n")
    corpus = open_corpus(path)
    corpus.fingerprint()
    (tmp_path / "new.txt").write_text("cows eat moss!\n")
    (tmp_path / "new.txt").replace(path)  # of the same size
    with pytest.raises(DataError, match="text.txt: changed while it was read"):
        fit_and_encode(corpus, build("text/tokenizers", "words"), OPTIONS)
    assert fit_and_encode(open_corpus(path), build("text/tokenizers", "words"), OPTIONS)[1].units == 1


def test_a_failure_leaves_nothing_behind(own_cache):
    with pytest.raises(DataError):
        fit_and_encode(corpus_of(b"good line\n" * 10 + b"bad \xff\n"), build("text/tokenizers", "words"), OPTIONS)
    assert list(own_cache.iterdir()) == []


def test_a_killed_writer_leaves_no_folder_that_looks_whole(own_cache):
    code = ("import os\nfrom pathlib import Path\nfrom chainrule.text.cache import cached\n"
            "def fill(folder):\n    (folder / 'ids').write_bytes(b'half')\n    os.kill(os.getpid(), 9)\n"
            "cached('encoded', 'key', fill)")
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == -9
    folder = cache.cached("encoded", "key", lambda folder: (folder / "ids").write_bytes(b"whole"))
    assert (folder / "ids").read_bytes() == b"whole"
    assert [path.name for path in own_cache.iterdir()] == ["key"]


def test_two_processes_may_encode_the_same_at_once(own_cache):
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        assert pool.map(_tokens, ["hay and corn"] * 4) == [4] * 4
    assert len([path for path in own_cache.iterdir() if not path.name.startswith(".")]) == 1


def _tokens(text):
    return len(words(text)[1].ids)


def test_the_cache_keeps_to_its_limit(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 2500)
    for age, key in enumerate(("a", "b", "c")):
        folder = cache.cached("encoded", key, lambda folder: (folder / "ids").write_bytes(bytes(1000)))
        os.utime(folder, (age, age))
    cache.cached("encoded", "d", lambda folder: (folder / "ids").write_bytes(bytes(1000)))
    assert {path.name for path in own_cache.iterdir()} == {"c", "d"}


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match=r"the cache cannot be written \(.*\)\. Free some space, or set XDG_CACHE"):
        words("hay")


def test_folders_in_the_cache_honor_the_umask(own_cache):
    before = os.umask(0o027)
    try:
        words("hay")
    finally:
        os.umask(before)
    (folder,) = own_cache.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o750


def test_packed_and_plain_text_give_the_same_ids(tmp_path):
    text = "cows eat grass\n" * 50_000
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    trainer = build("text/tokenizers", "words")
    plain, packed = (fit_and_encode(open_corpus(tmp_path / name), trainer, OPTIONS)[1]
                     for name in ("a.txt", "a.txt.gz"))
    assert plain.ids.tolist() == packed.ids.tolist()
    assert plain.units == 50_000


def test_unknown_words_are_encoded_as_unknown():
    tokenizer, _ = words("cows eat grass")
    assert encode(corpus_of("cows eat moss"), tokenizer, OPTIONS).ids.tolist() == [3, 4, 0, 2]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("tokenizer", ["words", "bytes", "byte_pair"])
def test_memory_stays_bounded_on_a_long_text(tmp_path, tokenizer):
    """A text of 40 MB, half of it in one line, costs far less memory than it is long; 10 MB for the slow byte_pair."""
    path, times = tmp_path / "long.txt", 1 if tokenizer == "byte_pair" else 4
    path.write_bytes(b"the cows eat grass and hay " * 190_000 * times + b"\n" + b"a b c d e f g h\n" * 310_000 * times)
    tokens, _, megabytes = measured(path, tokenizer, tmp_path)
    assert tokens > 3_500_000 * times
    assert megabytes < (60 if tokenizer == "byte_pair" else 25)


def test_a_model_of_the_original_is_right_after_a_copy_grew_while_it_was_read(own_cache, tmp_path, monkeypatch):
    path, original = tmp_path / "copy.txt", tmp_path / "original.txt"
    for each in (path, original):
        each.write_text("the cows eat grass\nthe cows sleep\n" * 100)
    with monkeypatch.context() as patched:
        growing(path, patched)
        with pytest.raises(DataError, match="changed while it was read"):
            train("ngram", path, tmp_path / "none", overrides=["model.order=2"])
    assert not (tmp_path / "none").exists()
    report = train("ngram", original, tmp_path / "run", overrides=["model.order=2"])
    assert (report["tokens"], report["vocabulary"]) == (900, 8)
