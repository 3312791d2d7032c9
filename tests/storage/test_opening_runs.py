"""A damaged or half-written folder is refused, and the file named."""

import contextlib
import json
import os
import random
import shutil
import socket

import pytest

from chainrule.errors import StorageError
from chainrule.storage import check_target, manifest, open_run, run_folder, verified, verify_run, write_run
from chainrule.storage.manifest import NAME, Entry, manifest_bytes
from chainrule.storage.verified import ALWAYS_BELOW, cache_folder

NAMES = ("recipe.yaml", "model.safetensors", "tokenizer.json", "metrics.jsonl", "report.json", "environment.json",
         "README.md")


@pytest.fixture
def run(tmp_path):
    def fill(folder):
        for name in NAMES:
            (folder / name).write_bytes(random.Random(name).randbytes(200))
    return write_run(tmp_path / "run", fill)


def flip(path, position, bit=0):
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.parametrize("name", NAMES)
def test_one_flipped_bit_in_any_file_is_found_and_the_file_named(run, name):
    for position in (0, 77, 199):
        for bit in range(8):
            flip(run / name, position, bit)
            with pytest.raises(StorageError, match=f"run/{name}: SHA-256 differs from MANIFEST.json"):
                open_run(run)
            flip(run / name, position, bit)
    assert open_run(run).files


def test_any_flipped_bit_in_the_manifest_is_found(run):
    content = (run / NAME).read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (3 * position + position // 8) % 8
        (run / NAME).write_bytes(damaged)
        with pytest.raises(StorageError, match="MANIFEST.json: (not a manifest|differs from its own|version)"):
            open_run(run)
    (run / NAME).write_bytes(content)
    assert open_run(run).files


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_or_cut_or_longer_file_is_named(run, name):
    content = (run / name).read_bytes()
    (run / name).unlink()
    with pytest.raises(StorageError, match=f"run/{name}: missing, though MANIFEST.json lists it"):
        open_run(run)
    for changed in (content[:-1], b"", content + b"x"):
        (run / name).write_bytes(changed)
        with pytest.raises(StorageError, match=f"run/{name}: [0-9]+ bytes, expected 200 as in MANIFEST.json"):
            open_run(run)
    (run / name).unlink()
    (run / name).mkdir()
    with pytest.raises(StorageError, match=f"run/{name}: missing"):
        open_run(run)


def test_a_folder_without_a_manifest_is_not_a_run(run, tmp_path):
    (run / NAME).unlink()
    with pytest.raises(StorageError, match="run: no MANIFEST.json: this is not a run folder, or its saving was cut"):
        open_run(run)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"{}", b'{"version": 1, "files": []}', b"\xff\xfe",
                                     b"[" * 9999, b'{"version": 1, "files": {"a": 3}}',
                                     b'{"version": 1, "files": {"a": {}}}'])
def test_a_manifest_that_is_none_is_refused(run, content):
    (run / NAME).write_bytes(content)
    with pytest.raises(StorageError, match="MANIFEST.json: (not a manifest|differs)"):
        open_run(run)


def test_a_manifest_of_a_newer_version_is_not_reported_as_damaged(run):
    content = json.loads((run / NAME).read_text(encoding="utf-8"))
    (run / NAME).write_text(json.dumps({**content, "version": 99}), encoding="utf-8")
    with pytest.raises(StorageError, match="version 99, expected 1. A newer chainrule wrote it"):
        open_run(run)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b"])
def test_a_manifest_may_not_point_outside_its_folder(run, name):
    (run / NAME).write_bytes(manifest_bytes({name: Entry(1, "0" * 64)}))
    with pytest.raises(StorageError, match="which is outside the folder"):
        open_run(run)


@pytest.mark.parametrize("name", [*NAMES, NAME, "more", "below/more"])
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_only_regular_files_are_read(run, name, kind):
    path = run / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
            made.bind(path.name)
    for opening in (open_run, verify_run):
        with pytest.raises(StorageError, match=f"run/{name}: a pipe or a device, expected a regular file. Remove it"):
            opening(run)
    if name == NAME:
        with pytest.raises(StorageError, match="a pipe or a device"):
            check_target(run, replace=True)


def test_a_file_may_be_a_link_to_a_regular_one(run, tmp_path):
    (run / "README.md").rename(tmp_path / "aside")
    (run / "README.md").symlink_to(tmp_path / "aside")
    (run / "lost").symlink_to(tmp_path / "nowhere")
    assert open_run(run).files


def test_a_manifest_of_gigabytes_is_not_read(run):
    with (run / NAME).open("r+b") as file:
        file.truncate(8 << 30)  # a hole that takes no room
    with pytest.raises(StorageError, match="MANIFEST.json: 8,589,934,592 bytes, expected a manifest of at most"):
        open_run(run)


def test_other_files_in_the_folder_do_not_matter(run):
    (run / ".DS_Store").write_bytes(b"junk")
    (run / "notes").mkdir()
    assert list(open_run(run).files) == sorted(NAMES)


def test_a_run_may_be_moved_and_copied(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    run.rename(tmp_path / "moved")
    assert open_run(tmp_path / "copy").files == open_run(tmp_path / "moved").files


def test_a_run_that_is_not_there_gets_a_suggestion(run, tmp_path):
    with pytest.raises(StorageError, match="rum: no such run folder. Did you mean '.*/run'?"):
        open_run(tmp_path / "rum")
    with pytest.raises(StorageError, match="README.md: a file, expected a run folder"):
        open_run(run / "README.md")
    with pytest.raises(StorageError, match="has no model.safetensor. Did you mean 'model.safetensors'?"):
        open_run(run).file("model.safetensor")


def test_verify_lists_every_damaged_file(run):
    flip(run / "README.md", 3)
    flip(run / "recipe.yaml", 3)
    problems = verify_run(run)[1]
    assert [str(problem).partition(": ")[0][-11:] for problem in problems] == ["n/README.md", "recipe.yaml"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    def fill(folder):
        (folder / "small").write_text("x", encoding="utf-8")
        with (folder / "model.safetensors").open("wb") as file:
            file.truncate(8 * ALWAYS_BELOW)  # 512 MB of zeros that take no room
    return write_run(tmp_path_factory.mktemp("large") / "run", fill)


def test_a_large_file_is_read_once_and_again_when_it_was_touched(large, monkeypatch):
    read = []
    for module in (verified, run_folder):
        monkeypatch.setattr(module, "check_content", lambda path, entry: (read.append(path.name), check(path, entry)))

    def files_read(opening):
        read.clear()
        opening(large)
        return sorted(read)

    check = manifest.check_content
    assert files_read(open_run) == ["small"]  # its writer had read the other
    os.utime(large / "model.safetensors")
    assert files_read(open_run) == ["model.safetensors", "small"]
    assert files_read(open_run) == ["small"]
    assert files_read(verify_run) == ["model.safetensors", "small"]  # verifying always reads
    shutil.rmtree(cache_folder() / "verified")
    assert files_read(open_run) == ["model.safetensors", "small"]


def test_a_bit_flipped_in_a_large_file_is_found(large):
    with (large / "model.safetensors").open("r+b") as file:
        file.seek(3 * ALWAYS_BELOW + 5)
        file.write(b"\1")
    with pytest.raises(StorageError, match="run/model.safetensors: SHA-256 differs"):
        open_run(large)
    with (large / "model.safetensors").open("r+b") as file:
        file.seek(3 * ALWAYS_BELOW + 5)
        file.write(b"\0")
    assert open_run(large).files


def test_broken_notes_and_a_missing_cache_only_cost_time(large, tmp_path, monkeypatch):
    for note in (cache_folder() / "verified").iterdir():
        note.write_text("{", encoding="utf-8")
    assert open_run(large).files
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert open_run(large).files
