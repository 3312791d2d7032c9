"""A quantized classifier of fastText written by hand: what its bytes mean, and one line for each that is wrong."""

import gzip
import struct

import numpy as np
import pytest

import chainrule
from chainrule.classifying.fasttext_files import read_classifier
from chainrule.classifying.features import Shape
from chainrule.errors import DataError


def settings(version=12, word_ngrams=2, bucket=5, max_n=0):
    """Three numbers a row, and softmax."""
    return struct.pack("<ii12id", 793712314, version, 3, 5, 5, 1, 5, word_ngrams, 3, 3, bucket, 0, max_n, 100, 1e-4)


FIELDS = {
    "settings": settings(),
    "sizes": struct.pack("<iii", 4, 2, 2), "tokens": struct.pack("<q", 9), "kept": struct.pack("<q", 2),
    "words": b"".join(name + b"\0" + struct.pack("<qb", 3, 0) for name in (b"</s>", b"one")),
    "labels": b"".join(name + b"\0" + struct.pack("<qb", 3, 1) for name in (b"__label__x", b"__label__y")),
    "list": struct.pack("<4i", 4, 0, 1, 1), "flags": b"\1\1", "rows": struct.pack("<qq", 4, 3),
    "size": struct.pack("<i", 8), "codes": bytes([0, 0, 1, 1, 2, 255, 255, 2]),
    "quantizer": struct.pack("<4i", 3, 2, 2, 1), "centroids": np.arange(768, dtype="<f4").tobytes(),
    "lengths": bytes([1, 1, 0, 2]), "second": struct.pack("<4i", 1, 1, 1, 1),
    "scales": np.arange(256, dtype="<f4").tobytes(), "flag": b"\0", "outputs": struct.pack("<qq", 2, 3),
    "numbers": np.arange(6, dtype="<f4").tobytes()}


def by_hand(**changes):
    return b"".join((FIELDS | changes).values())


def place_of(field):
    names = list(FIELDS)
    return sum(len(FIELDS[name]) for name in names[: names.index(field)])


def test_rows_are_centroids_times_lengths(tmp_path):
    """Of the first piece, centroid c is (2c, 2c + 1); of the second, which is one number, 512 + c; length c is c."""
    (tmp_path / "hand.ftz").write_bytes(by_hand())
    model = read_classifier(tmp_path / "hand.ftz").model
    assert model.features.words == [b"one"] and model.features.used.tolist() == [4, 1] and model.features.cut
    assert model.inputs[np.arange(4)].tolist() == [[0, 1, 512], [2, 3, 513], [0, 0, 0], [1020, 1022, 1028]]
    assert model.outputs.tolist() == [[0, 1, 2], [3, 4, 5]] and model.labels == ["x", "y"]
    (tmp_path / "plain.ftz").write_bytes(by_hand(flags=b"\1\0", lengths=b"", second=b"", scales=b""))
    model = read_classifier(tmp_path / "plain.ftz").model
    assert model.inputs[np.arange(2, 4)].tolist() == [[4, 5, 767], [510, 511, 514]]


def test_a_packed_file_is_read(tmp_path):
    (tmp_path / "hand.ftz.gz").write_bytes(gzip.compress(by_hand()))
    assert chainrule.import_model(tmp_path / "hand.ftz.gz", tmp_path / "run")["ngrams"] == 2


INFINITE = np.full(768, np.inf, "<f4").tobytes()
ENDLESS = struct.pack("<qq", 1 << 60, 3)


@pytest.mark.parametrize(("field", "value", "ahead", "message"), [
    ("settings", settings(bucket=2**31 - 1), 40, "bucket = 2,147,483,647, expected 0 to"),
    ("settings", settings(word_ngrams=99), 28, "word_ngrams = 99, expected 0 to 16"),
    ("kept", struct.pack("<q", 1 << 60), None, "kept n-grams, expected at most 5, as many as there are buckets"),
    ("list", struct.pack("<4i", 4, 0, 5, 1), 8, "bucket 5 at row 1 among the kept n-grams"),
    ("list", struct.pack("<4i", 4, 0, 1, 2), 8, "rows below 2"),
    ("list", struct.pack("<4i", -1, 0, 1, 1), 0, "bucket -1 at row 0"),
    ("list", struct.pack("<4i", 4, 0, 4, 1), 8, "each bucket below 5 once"),
    ("list", struct.pack("<4i", 4, 1, 1, 1), 8, "row 1 again among the kept n-grams"),
    ("flags", b"\2\1", 1, "the input matrix says 2 where it is quantized or not"),
    ("flags", b"\1\7", 2, "the input matrix says 7 where lengths are apart or not"),
    ("rows", ENDLESS, 16, "expected 4 × 3 for 2 words"),
    ("size", struct.pack("<i", 7), 4, "7 codes, expected 1 to 3 for each of 4 rows"),
    ("size", struct.pack("<i", -8), 4, "-8 codes"),
    ("quantizer", struct.pack("<4i", 3, 3, 1, 1), 16, "cuts 3 numbers into 3 pieces of 1, the last of 1"),
    ("quantizer", struct.pack("<4i", 3, 2, -2, 5), 16, "pieces of -2"),
    ("quantizer", struct.pack("<4i", 3, 2, 1, 2), 16, "the last of 2"),
    ("centroids", INFINITE, 0, "inf in the quantizer of the input matrix, expected a finite number"),
    ("second", struct.pack("<4i", 2, 1, 1, 1), 16, "the quantizer of the lengths of the input matrix cuts 2"),
    ("outputs", ENDLESS, 16, "the output matrix is of"),
    ("numbers", FIELDS["numbers"] + b"x", 24, "more follows after the output matrix"),
])
def test_errors_name_the_byte(field, value, ahead, message, tmp_path):
    (tmp_path / "broken.ftz").write_bytes(by_hand(**{field: value}))
    with pytest.raises(DataError, match=message) as caught:
        chainrule.import_model(tmp_path / "broken.ftz", tmp_path / "run")
    place = place_of("list") if ahead is None else place_of(field) + ahead
    assert f"broken.ftz: byte {place:,}: " in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_file_cut_anywhere_is_refused_in_one_line(tmp_path):
    data, path = by_hand(), tmp_path / "cut.ftz"
    for size in (*range(4, place_of("centroids")), *range(place_of("centroids"), len(data), 97), len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(DataError, match=r"byte [\d,]+: the file ends within .*It may have been cut\.$"):
            read_classifier(path)


def test_n_grams_that_were_cut_off_need_a_quantized_matrix(tmp_path):
    rest = dict.fromkeys(("size", "codes", "quantizer", "lengths", "second", "scales"), b"")
    (tmp_path / "odd.ftz").write_bytes(by_hand(flags=b"\0", centroids=np.zeros(12, "<f4").tobytes(), **rest))
    with pytest.raises(DataError, match="some n-grams were cut off, but the input matrix is not quantized"):
        read_classifier(tmp_path / "odd.ftz")


def test_wide_pieces_of_a_quantized_output_are_refused(tmp_path):
    wide = struct.pack("<?qqi", False, 2, 3, 2) + b"\0\1" + struct.pack("<4i", 3, 1, 3, 3) + FIELDS["centroids"]
    (tmp_path / "odd.ftz").write_bytes(by_hand(flag=b"\1", outputs=wide, numbers=b""))
    with pytest.raises(DataError, match="the output matrix is quantized in pieces of 3 numbers, expected 2"):
        read_classifier(tmp_path / "odd.ftz")


def test_a_classifier_of_version_11_has_no_character_n_grams(tmp_path):
    (tmp_path / "old.ftz").write_bytes(by_hand(settings=settings(version=11, max_n=6)))
    assert read_classifier(tmp_path / "old.ftz").model.features.shape == Shape(2, 0, 0, 5)
