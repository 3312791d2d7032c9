"""Index arrays are checked a piece at a time, as the definitions say."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import StorageError
from chainrule.storage import index_arrays
from chainrule.storage.index_arrays import Arrays

SMALL = st.lists(st.integers(0, 9), max_size=12)


@pytest.fixture(autouse=True, scope="module")
def small_pieces():
    whole, index_arrays.PIECE = index_arrays.PIECE, 4
    yield
    index_arrays.PIECE = whole


def accepts(check, *named):
    try:
        check(*named)
    except StorageError:
        return False
    return True


def arrays(values, dtype=np.int32):
    return Arrays(Path("model.safetensors"), {"x": np.array(values, dtype)})


@given(st.lists(st.integers(-2, 9), max_size=12), st.integers(0, 10))
def test_what_points_outside_its_target_is_refused(values, limit):
    assert accepts(arrays(values).below, "x", limit) == all(0 <= value < limit for value in values)


@given(SMALL, st.integers(0, 9))
def test_offsets_run_from_0_to_the_total_and_never_fall(values, total):
    expected = values == sorted(values) and values[:1] == [0] and values[-1:] == [total]
    assert accepts(arrays(values, np.uint32).offsets, "x", total) == expected
    if values:
        rising = sorted([0, *values])
        assert accepts(arrays(rising, np.uint32).offsets, "x", rising[-1])


@given(SMALL, st.sets(st.integers(0, 12)))
def test_what_is_not_sorted_after_each_start_is_refused(values, some):
    starts = np.array(sorted({0, *(start for start in some if start <= len(values))}), np.uint32)
    expected = all(values[i - 1] < values[i] for i in range(1, len(values)) if i not in starts)
    assert accepts(arrays(values).rising, "x", starts) == expected


@pytest.mark.parametrize(("name", "dtype", "shape", "words"), [
    ("y", np.int32, (3,), "the array 'y' is missing"),
    ("x", np.uint32, (3,), "the array 'x' holds int32, expected uint32"),
    ("x", np.floating, (3,), "the array 'x' holds int32, expected floating"),
    ("x", np.int32, (4,), "the array 'x' has the shape 3, expected 4"),
    ("x", np.int32, (None, 4), "the array 'x' has the shape 3, expected any × 4")])
def test_another_type_or_shape_is_refused_and_the_array_named(name, dtype, shape, words):
    with pytest.raises(StorageError, match=f"model.safetensors: {words}"):
        arrays([1, 2, 3]).get(name, dtype, *shape)
    assert arrays([1, 2, 3]).get("x", np.integer, None).tolist() == [1, 2, 3]
