"""What all tokenizers promise: files that the `tokenizers` library reads, streams like whole texts, nothing lost."""

import json
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import corpus_of, lines_by_hand

from chainrule import protocols
from chainrule.errors import DataError, OptionError, StorageError
from chainrule.recipe.registry import build, names
from chainrule.text.encoded import encode, fit_and_encode
from chainrule.text.options import TextOptions
from chainrule.text.tokenizer import load_tokenizer
from chainrule.text.units import stretches

OPTIONS = TextOptions()
SAMPLE = ("The cows' milk isn't bad, they'd say: 12345 cows ate   grass\n\n  and hay (twice)…\r\n"
          "naïve café — “quoted” 日本語 ☕👩‍🌾 x\u00a0y\u2028z ⟨s⟩ <s> <unk>\n\tdef f(x):\n\t\treturn x\0\n") * 40
KEEPING = ["bytes", "byte_pair", "characters", "characters_and_bytes", "unigram"]
# at most 32 characters: more control bytes than that are refused as binary
TEXT = st.text(st.sampled_from("ab'st  \n\n\t\r\0é日\u00a0\u2028—1☕.⟨s⟩<") | st.characters(codec="utf-8"), max_size=32)


def trained(name):
    if name not in made:
        made[name] = build("text/tokenizers", name).train(corpus_of(SAMPLE, marks="drop"), TextOptions(marks="drop"))
    return made[name]


made: dict = {}


@pytest.mark.parametrize("name", names("text/tokenizers"))
def test_every_tokenizer_satisfies_the_protocol(name):
    tokenizer = trained(name)
    assert isinstance(tokenizer, protocols.Tokenizer)
    assert tokenizer.name == name
    marks = (tokenizer.start, tokenizer.end)
    assert marks == ((0, 1) if tokenizer.unknown is None else (1, 2))
    spelled = [tokenizer.token(id) for id in range(tokenizer.vocabulary_size)]
    assert len(set(spelled)) == len(spelled)
    assert tokenizer.decode(np.array(marks)) == ""


@pytest.mark.parametrize("name", names("text/tokenizers"))
def test_a_saved_tokenizer_is_read_back_equal(name, tmp_path):
    tokenizer = trained(name)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert (again.name, again.vocabulary_size, again.digest()) == (name, tokenizer.vocabulary_size, tokenizer.digest())
    assert again.encode(SAMPLE).tolist() == tokenizer.encode(SAMPLE).tolist()


@settings(max_examples=60)
@pytest.mark.parametrize("name", names("text/tokenizers"))
@given(text=TEXT.filter(lambda text: all(unicodedata.category(c) != "Cn" for c in text)))
def test_the_library_reads_the_same_file_and_gives_the_same_ids(name, text):
    """But for characters that Python's tables do not know yet: the library's may be newer and call them letters."""
    library = tokenizers.Tokenizer.from_str(trained(name).to_json())
    library.encode_special_tokens = True
    expected = library.encode(text, add_special_tokens=False).ids
    if name == "words":
        expected = [0 if id in (1, 2) else id for id in expected]
    assert trained(name).encode(text).tolist() == expected


@pytest.mark.parametrize("name", names("text/tokenizers"))
@given(text=TEXT)
def test_lossless_means_that_decode_undoes_encode(name, text):
    tokenizer = trained(name)
    if tokenizer.lossless:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.byte_lengths()[ids].sum() == len(text.encode())
    else:
        assert tokenizer.byte_lengths() is None
        known = "".join(c for c in text if tokenizer.encode(c).tolist() not in ([], [0]))
        if name == "characters":
            assert tokenizer.decode(tokenizer.encode(known)) == known


@settings(max_examples=60)
@pytest.mark.parametrize("name", KEEPING)
@given(text=TEXT.map(lambda text: text.replace("\ufeff", "")).filter(lines_by_hand), size=st.integers(4, 40),
       unit=st.sampled_from(["line", "document"]))
def test_a_stream_gives_the_ids_of_the_whole_text_wherever_it_is_cut(name, text, size, unit):
    tokenizer, corpus = trained(name), corpus_of(text, blank_lines="keep")
    stream = tokenizer.stream(stretches(corpus, unit, corpus.options, size), corpus, corpus.options)
    units = [text] if unit == "document" else lines_by_hand(text, keep_blank=True)
    expected = [id for one in units for id in [*tokenizer.encode(one).tolist(), tokenizer.end]]
    assert np.concatenate(list(stream)).tolist() == expected


@pytest.mark.parametrize("name", ["bytes", "byte_pair", "characters_and_bytes", "unigram"])
def test_marks_are_never_read_from_the_text(name):
    tokenizer = trained(name)
    text = f"{tokenizer.token(0)} {tokenizer.token(1)} <s></s>"
    ids = tokenizer.encode(text)
    assert ids.min() > 1
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("name", ["byte_pair", "unigram"])
def test_training_twice_gives_the_same_tokenizer(name):
    again = build("text/tokenizers", name).train(corpus_of(SAMPLE), OPTIONS)
    assert again.digest() == trained(name).digest()


@pytest.mark.parametrize("name", ["byte_pair", "unigram"])
def test_every_byte_has_a_token(name):
    lines = "hay haystack hayloft stack stacked cornstack\n" * 50
    tokenizer = build("text/tokenizers", {"name": name, "size": 262}).train(corpus_of(lines), OPTIONS)
    assert 258 < tokenizer.vocabulary_size <= 262
    assert set(range(256)) == {piece[0] for piece in tokenizer.pieces if len(piece) == 1}


def test_byte_pairs_join_what_is_frequent():
    trainer = build("text/tokenizers", {"name": "byte_pair", "size": 270})
    tokenizer = trainer.train(corpus_of("hay hay hay corn\n" * 9), OPTIONS)
    assert len(tokenizer.encode(" hay")) == 1
    assert len(tokenizer.encode(" yah")) == 4


def test_the_cache_of_words_forgets_and_goes_on(monkeypatch):
    monkeypatch.setattr("chainrule.text.tokenizers._pieces.WORDS", 5)
    tokenizer = load_tokenizer_of(trained("byte_pair"))
    for text in ("the cows ate grass", "grass and hay (twice)", "the cows ate grass"):
        assert tokenizer.encode(text).tolist() == trained("byte_pair").encode(text).tolist()


def test_threads_may_share_a_tokenizer():
    tokenizer = load_tokenizer_of(trained("byte_pair"))
    texts = [f"cows{i} eat{i % 7} grass{i * i}" for i in range(400)]
    with ThreadPoolExecutor(8) as pool:
        assert [tokenizer.decode(ids) for ids in pool.map(tokenizer.encode, texts)] == texts


def load_tokenizer_of(tokenizer):
    return type(tokenizer)(tokenizer.name, tokenizer.to_json())


def test_a_long_text_without_white_space_is_encoded():
    text = "ACGT" * (1 << 18)
    trainer = build("text/tokenizers", {"name": "byte_pair", "size": 300})
    tokenizer, encoded = fit_and_encode(corpus_of(text), trainer, OPTIONS)
    assert tokenizer.decode(encoded.ids) == text
    assert encoded.units == 1 and encoded.bytes.tolist() == [len(text)]


@pytest.mark.parametrize("name", ["byte_pair", "unigram"])
def test_a_vocabulary_smaller_than_the_bytes_is_refused(name):
    with pytest.raises(OptionError, match=rf"{name}\.size = 258, expected more than 258"):
        build("text/tokenizers", {"name": name, "size": 258})


@pytest.mark.parametrize(("name", "most"), [("byte_pair", "4,194,304"), ("unigram", "4,194,304"),
                                            ("words", "2,147,483,647"), ("characters", "2,147,483,647"),
                                            ("characters_and_bytes", "2,147,483,647")])
def test_a_vocabulary_too_large_to_be_learned_or_numbered_is_refused(name, most):
    with pytest.raises(OptionError, match=f"{name}.size = 10000000000, expected at most {most}"):
        build("text/tokenizers", {"name": name, "size": 10**10})


def test_a_panic_of_the_library_is_one_clear_line(tmp_path):
    layout = json.loads(trained("byte_pair").to_json())
    layout["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": "(a+a+)+b"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(layout))
    hostile = load_tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(DataError, match="the tokenizers library failed while it cut words into pieces: .*retry-limit"):
        hostile.encode("a" * 60)


def test_a_pair_must_be_seen_at_least_once():
    with pytest.raises(OptionError, match=r"byte_pair\.min_count = 0, expected at least 1"):
        build("text/tokenizers", {"name": "byte_pair", "min_count": 0})


def test_characters_are_ordered_by_count_and_code_point():
    tokenizer = build("text/tokenizers", "characters").train(corpus_of("baa\nb☕a"), OPTIONS)
    assert [tokenizer.token(id) for id in range(3, 7)] == ["a", "b", "\n", "☕"]
    rare = build("text/tokenizers", {"name": "characters", "min_count": 2}).train(corpus_of("baa\nb☕a"), OPTIONS)
    assert rare.vocabulary_size == 5
    assert rare.encode("a☕").tolist() == [3, 0]


def test_rare_characters_are_read_as_the_bytes_of_their_utf8():
    tokenizer = build("text/tokenizers", "characters_and_bytes").train(corpus_of("天地玄黄天地x☕"), OPTIONS)
    assert tokenizer.vocabulary_size == 2 + 256 + 2 and tokenizer.unknown is None
    assert [tokenizer.token(id) for id in (2, 257, 258, 259)] == ["<0x00>", "<0xFF>", "地", "天"]  # by code point
    assert tokenizer.encode("天x☕地").tolist() == [259, *(2 + byte for byte in "x☕".encode()), 258]
    assert tokenizer.byte_lengths()[[0, 2, 258]].tolist() == [0, 1, 3]
    assert tokenizer.decode(tokenizer.encode("☕天")[:2]) == "\ufffd"  # half a character does not fail


def test_the_library_decodes_bytes_and_characters_back(tmp_path):
    tokenizer = trained("characters_and_bytes")
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    text = "日本語 naïve ☕ \U00020000 never seen: 漢字"
    assert library.decode(tokenizer.encode(text).tolist(), skip_special_tokens=False) == text


def test_bytes_keep_a_document_and_its_line_ends():
    tokenizer, encoded = fit_and_encode(corpus_of(b"a\r\n\r\nb"), build("text/tokenizers", "bytes"), OPTIONS)
    assert encoded.ids.tolist() == [97 + 2, 15, 12, 15, 12, 98 + 2, 1]
    assert encoded.lost == 0
    lines = encode(corpus_of(b"a\r\n\r\nb"), tokenizer, TextOptions(unit="line"))
    assert lines.ids.tolist() == [99, 15, 1, 100, 1]
    assert lines.lost == 2 and lines.bytes.tolist() == [3, 1]


def test_decoding_half_a_character_does_not_fail():
    tokenizer = trained("bytes")
    assert tokenizer.decode(tokenizer.encode("é")[:1]) == "\ufffd"


@pytest.mark.parametrize("content, message", [
    (None, "no such file, expected a tokenizer.json"), ("{", "not a tokenizer that chainrule wrote"),
    ("[]", "not a tokenizer that chainrule wrote"),
    (json.dumps({"model": {"type": "WordPiece"}, "decoder": None}), r"chainrule wrote \(its model is WordPiece\)"),
    (json.dumps({"model": {"type": "Unigram"}, "decoder": {"type": "ByteLevel"}}), r"chainrule wrote \(Missing vocab"),
])
def test_a_file_that_is_no_tokenizer_is_refused_with_its_name(tmp_path, content, message):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(StorageError, match=rf"tokenizer\.json: .*{message}"):
        load_tokenizer(path)
