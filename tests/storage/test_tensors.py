"""Arrays are written in a stream, in the format that safetensors reads, and read as a memory map."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from chainrule.errors import StorageError
from chainrule.storage.tensors import CHUNK, TYPES, open_tensors, save_tensors, tensor_metadata

ROOT = Path(__file__).parents[2]
ARRAYS = st.sampled_from([np.dtype(code) for code in TYPES.values()]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9)))

UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]  # one `tmp_path` for all, on any disk


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), ARRAYS, max_size=6))
@settings(max_examples=80, suppress_health_check=UNCHECKED)
def test_we_and_safetensors_read_what_was_saved(tmp_path, tensors):
    path = tmp_path / "t.safetensors"
    path.unlink(missing_ok=True)
    save_tensors(path, tensors)
    ours, theirs = open_tensors(path), safetensors.numpy.load_file(path)
    assert list(ours) == sorted(tensors) and sorted(theirs) == sorted(tensors)
    assert all(same(ours[name], array) and same(theirs[name], array) for name, array in tensors.items())


@given(st.dictionaries(st.text("abc", min_size=1), ARRAYS, min_size=1, max_size=5))
@settings(max_examples=40, suppress_health_check=UNCHECKED)
def test_we_read_what_safetensors_saved(tmp_path, tensors):
    path = tmp_path / "t.safetensors"
    safetensors.numpy.save_file(tensors, path, {"a": "é"})
    assert all(same(array, tensors[name]) for name, array in open_tensors(path).items())
    assert tensor_metadata(path) == {"a": "é"}


def test_the_same_arrays_give_the_same_bytes_in_any_order(tmp_path):
    tensors = {"b": np.arange(5), "a": np.ones((2, 3), np.float32), "c": np.zeros(1, bool)}
    save_tensors(tmp_path / "1", tensors, {"x": "1", "y": "2"})
    save_tensors(tmp_path / "2", dict(reversed(tensors.items())), {"y": "2", "x": "1"})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_metadata_comes_back_to_us_and_to_safetensors(tmp_path):
    save_tensors(tmp_path / "t", {"a": np.arange(3)}, {"order": "5"})
    assert tensor_metadata(tmp_path / "t") == {"order": "5"}
    with safetensors.safe_open(tmp_path / "t", "np") as file:
        assert file.metadata() == {"order": "5"}


def test_arrays_are_aligned_to_cache_lines_where_their_size_allows_and_to_their_elements_always(tmp_path):
    tensors = {"odd": np.ones(3, np.uint8), "keys": np.ones(64, np.uint64), "three": np.ones(3, np.float32),
               "rows": np.ones((4, 32), np.uint16), "five": np.ones(5, np.int64)}
    save_tensors(tmp_path / "t", tensors)
    read = open_tensors(tmp_path / "t")
    assert all(read[name].ctypes.data % 64 == 0 for name in ("keys", "rows", "five"))
    assert all(array.flags.aligned for array in read.values())


@pytest.mark.parametrize("array", [
    np.arange(24).reshape(4, 6).T, np.arange(24).reshape(4, 6)[::-1, ::2], np.arange(5, dtype=">i4"),
    np.asfortranarray(np.ones((3, 5))), np.float64(2.5).reshape(()), np.broadcast_to(np.arange(3), (4, 3))])
def test_any_layout_is_saved_in_row_order(tmp_path, array):
    save_tensors(tmp_path / "t", {"a": array})
    np.testing.assert_array_equal(open_tensors(tmp_path / "t")["a"], array)


def test_arrays_of_several_chunks_are_saved_whole(tmp_path):
    flat = np.random.default_rng(0).integers(0, 256, 2 * CHUNK + 12345, np.uint8)
    grid = np.arange(3 * CHUNK // 16, dtype=np.int32).reshape(3, -1)
    save_tensors(tmp_path / "t", {"flat": flat, "turned": grid.T, "backwards": grid[:, ::-1]})
    read = open_tensors(tmp_path / "t")
    assert np.array_equal(read["flat"], flat) and np.array_equal(read["turned"], grid.T)
    assert np.array_equal(read["backwards"], grid[:, ::-1])


def test_opened_tensors_are_read_only(tmp_path):
    save_tensors(tmp_path / "t", {"a": np.arange(3), "empty": np.empty((0, 2))})
    with pytest.raises(ValueError, match="read-only"):
        open_tensors(tmp_path / "t")["a"][0] = 1


def test_a_type_without_a_name_in_the_format_is_refused(tmp_path):
    with pytest.raises(StorageError, match="words: arrays of <U1 cannot be saved, expected one of BOOL, U8"):
        save_tensors(tmp_path / "t", {"words": np.array(["a"])})
    assert not (tmp_path / "t").exists()


def test_a_memory_map_larger_than_what_we_hold_is_copied_in_bounded_memory(tmp_path):
    code = """
import resource, sys
from pathlib import Path
import numpy as np
from chainrule.storage.tensors import open_tensors, save_tensors

folder = Path(sys.argv[1])
big = np.memmap(folder / "big", np.uint32, "w+", shape=(100, 2**20))  # 400 MB
for row in range(0, 100, 10):
    big[row, ::1000] = row
    big.flush()
del big
big = np.memmap(folder / "big", np.uint32, "r", shape=(100, 2**20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
save_tensors(folder / "copy", {"big": big[1:], "small": np.arange(3)})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
print(np.array_equal(open_tensors(folder / "copy")["big"], big[1:]))
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, text=True, capture_output=True, timeout=600)
    grown, equal = done.stdout.split()
    assert int(grown) < 4 * CHUNK / 2**20 and equal == "True", done


def broken(tmp_path, header, data=b"\0" * 16, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (tmp_path / "t").write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return tmp_path / "t"


def entry(dtype="U8", shape=(16,), offsets=(0, 16)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(("header", "words"), [
    (b"{ ", "Expecting property name"), (b"[]", "not a table of tensors"), (b"\xff\xff", "codec can't decode"),
    (b'{"a": 3}', "not a table of tensors"), (b'{"a": {}, "a": {}}', "a name occurs twice"),
    ({"a": {}}, "offsets None"), ({"a": entry(offsets=(0, 16, 3))}, "offsets"),
    ({"a": entry(offsets=(-1, 15))}, "offsets"), ({"a": entry(offsets=(0, "x"))}, "offsets"),
    ({"a": entry(offsets=(4, 16))}, "do not fit"), ({"a": entry(offsets=(0, 12))}, "do not fit"),
    ({"a": entry(offsets=(16, 0))}, "do not fit"), ({"a": entry(shape=(4, 5))}, "do not fit"),
    ({"a": entry(), "b": entry()}, "do not fit"), ({"a": entry(shape=(-16,))}, "shape"),
    ({"a": entry(shape=(1.5,))}, "shape"), ({"a": entry(dtype="U99")}, "dtype 'U99', expected one of BOOL"),
    ({"a": entry(dtype="BF16", shape=(8,))}, "'BF16'"), ({"a": entry(dtype=["U8"])}, "dtype"),
    ({"a": entry(shape=(8,), offsets=(0, 8))}, "16 bytes of data, expected 8"),
    ({"a": entry(shape=(32,), offsets=(0, 32))}, "16 bytes of data, expected 32"), ({}, "16 bytes of data, expected 0"),
])
def test_a_broken_header_is_reported(tmp_path, header, words):
    with pytest.raises(StorageError, match=f"t: broken safetensors header: .*{words}"):
        open_tensors(broken(tmp_path, header))


@pytest.mark.parametrize("length", [0, 1, 10**6, 2**63])
def test_a_wrong_header_length_is_reported(tmp_path, length):
    with pytest.raises(StorageError, match="its length is not a length"):
        open_tensors(broken(tmp_path, {"a": entry()}, length=length))


def test_a_file_cut_anywhere_is_refused(tmp_path):
    save_tensors(tmp_path / "whole", {"a": np.arange(9), "b": np.ones((3, 5), np.float32)})
    content = (tmp_path / "whole").read_bytes()
    for end in range(len(content)):
        (tmp_path / "cut").write_bytes(content[:end])
        with pytest.raises(StorageError, match="cut: broken safetensors header"):
            open_tensors(tmp_path / "cut")
