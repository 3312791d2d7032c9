"""Noted values are collected by open `watch` blocks, and nowhere else."""

import threading

import pytest

from chainrule.watching import note, placed, watch, watched


def test_without_a_watch_block_nothing_is_kept():
    note("attention", object())
    assert not watched()


def test_a_watcher_sees_what_is_noted_in_its_block_in_order():
    with watch() as seen:
        assert watched()
        note("a", 1)
        note("b", 2)
        note("a", 3)
    note("a", 4)
    assert seen == {"a": [1, 3], "b": [2]}


def test_blocks_nest_and_each_sees_its_own():
    with watch() as outer:
        note("a", 1)
        with watch() as inner:
            note("a", 2)
        note("a", 3)
    assert (outer, inner) == ({"a": [1, 2, 3]}, {"a": [2]})


def test_an_error_ends_the_watching():
    with pytest.raises(RuntimeError, match="boom"), watch():
        raise RuntimeError("boom")
    assert not watched()


def test_another_thread_is_not_watched():
    with watch() as seen:
        thread = threading.Thread(target=note, args=("a", 1))
        thread.start()
        thread.join()
    assert seen == {}


def test_a_place_is_put_before_the_names_of_all_that_is_noted_there():
    def inner():
        note("a", 1)
        return placed("deeper", note, "b", 2)

    with watch() as seen:
        placed("layer", inner)
        note("a", 3)
    assert seen == {"layer/a": [1], "layer/deeper/b": [2], "a": [3]}


def test_the_prefix_of_a_place_is_removed_after_an_error():
    def fails():
        raise RuntimeError("boom")

    with watch() as seen:
        with pytest.raises(RuntimeError, match="boom"):
            placed("layer", fails)
        note("a", 1)
    assert seen == {"a": [1]}
