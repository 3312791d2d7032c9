"""A full disk, a limit, a read-only disk, a folder of another user: one clear error, and nothing is half-written.

The disks are real file systems of a few megabytes, mounted where only the test's process sees them.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from chainrule.storage import open_run, write_run

ROOT = Path(__file__).parents[2]
FULL = "no space left on the disk. Nothing was saved and nothing replaced; free some and try again."
SAVE = """
import os, sys
from pathlib import Path
from chainrule.errors import StorageError
from chainrule.storage import open_run, write_run

def save(target, megabytes, replace=False):
    def fill(folder):
        for name in "ab":
            (folder / name).write_bytes(os.urandom(megabytes * 2**19))
    try:
        write_run(target, fill, replace=replace)
        print("saved")
    except StorageError as error:
        print(error)
    print(sorted(os.listdir(target.parent)))

disk = Path(sys.argv[1])
"""


def run(code, *command, **options):
    done = subprocess.run([*command, sys.executable, "-c", SAVE + code, options.pop("folder")], text=True, timeout=600,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, **options)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def own_mounts():
    """A command in front of ours that lets it mount disks of its own."""
    command = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]
    try:
        tried = subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode
    except FileNotFoundError:
        tried = 1
    if tried:
        pytest.skip("this system lets nobody mount a small disk; the file-size limit is tested instead")
    return command


def mounted(*how):
    return f"import subprocess; subprocess.run(['mount', *{how!r}, str(disk)], check=True)\n"


def test_a_full_disk_is_reported_and_the_old_run_stays(tmp_path, own_mounts):
    code = mounted("-t", "tmpfs", "-o", "size=3m", "none") + (
        "save(disk / 'run', 5)\nsave(disk / 'run', 1)\nsave(disk / 'run', 5, replace=True)\n"
        "print(len(open_run(disk / 'run').files))")
    full = f"{tmp_path}/run: {FULL}"
    assert run(code, *own_mounts, folder=tmp_path) == [full, "[]", "saved", "['run']", full, "['run']", "2"]


def test_a_full_disk_is_reported_while_the_manifest_is_written(tmp_path, own_mounts):
    """Every number of spare pages: somewhere between none and plenty the disk is full at each step of a saving."""
    code = mounted("-t", "tmpfs", "-o", "size=256k", "none") + (
        "outcomes = set()\n"
        "for pages in range(64):\n"
        "    ballast = disk / 'ballast'\n"
        "    ballast.write_bytes(bytes(4096 * pages))\n"
        "    try:\n"
        "        write_run(disk / 'run', lambda f: [(f / n).write_bytes(bytes(8192)) for n in 'ab'] and None)\n"
        "        outcomes.add(f\"saved {len(open_run(disk / 'run').files)}\")\n"
        "        import shutil; shutil.rmtree(disk / 'run')\n"
        "    except StorageError as error:\n"
        "        outcomes.add(str(error).partition(': ')[2].partition('.')[0])\n"
        "        assert os.listdir(disk) == ['ballast']\n"
        "print(sorted(outcomes))")
    assert run(code, *own_mounts, folder=tmp_path) == ["['no space left on the disk', 'saved 2']"]


def test_a_read_only_disk_is_reported_before_and_while_saving(tmp_path, own_mounts):
    code = mounted("-t", "tmpfs", "none") + "save(disk / 'run', 1)\n" + mounted("-o", "remount,ro") + (
        "save(disk / 'other', 1)\nsave(disk / 'run', 1, replace=True)\nprint(len(open_run(disk / 'run').files))")
    refused = f"{tmp_path} cannot be written to. Choose another folder."
    assert run(code, *own_mounts, folder=tmp_path) == [
        "saved", "['run']", f"{tmp_path}/other: {refused}", "['run']", f"{tmp_path}/run: {refused}", "['run']", "2"]


def test_a_disk_that_turns_read_only_while_saving_is_reported(tmp_path, own_mounts):
    code = mounted("-t", "tmpfs", "none") + (
        "import subprocess\n"
        "def fill(folder):\n"
        "    (folder / 'a').write_text('x')\n"
        "    subprocess.run(['mount', '-o', 'remount,ro', str(disk)], check=True)\n"
        "    (folder / 'b').write_text('x')\n"
        "try:\n"
        "    write_run(disk / 'run', fill)\n"
        "except StorageError as error:\n"
        "    print(error)\n"
        "print((disk / 'run').exists())")
    assert run(code, *own_mounts, folder=tmp_path) == [
        f"{tmp_path}/run: cannot be written: Read-only file system. Nothing was saved; choose another folder.", "False"]


def test_a_limit_on_the_size_of_files_is_reported(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
    assert run("save(disk / 'run', 5)", folder=tmp_path, preexec_fn=limit) == [
        f"{tmp_path}/run: {FULL}", "[]"]


def test_a_folder_of_another_user_is_reported():
    """Root may write everywhere, so as root the saving is done by nobody."""
    with tempfile.TemporaryDirectory() as name:
        shut = Path(name)
        write_run(shut / "run", lambda folder: (folder / "a").write_text("x") and None)
        shut.chmod(0o555)
        found = run("os.geteuid() or os.setuid(65534)\nsave(disk / 'new', 1)\nsave(disk / 'run', 1, replace=True)\n"
                    "print(len(open_run(disk / 'run').files))", folder=shut)
        shut.chmod(0o755)
        refused = f"{shut} cannot be written to. Choose another folder."
        assert found == [f"{shut}/new: {refused}", "['run']", f"{shut}/run: {refused}", "['run']", "1"]
        assert open_run(shut / "run").files
