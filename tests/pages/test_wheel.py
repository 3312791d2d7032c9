"""A wheel carries the built pages, and what is installed from it can write one."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITE = ("from chainrule.pages.page import write_page\n"
         "write_page('page.html', view='report', title='From a wheel', data={'report': {'rows': []}, 'details': {}})")


def run(*command, cwd):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_a_wheel_of_a_clean_checkout_can_write_a_page(tmp_path):
    """Only what git knows is copied, so the pages are built from their sources while the wheel is made."""
    tracked = run("git", "ls-files", "-z", cwd=ROOT).stdout.split("\0")
    for name in filter(None, tracked):
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, tmp_path / "checkout", cwd=tmp_path)
    wheel, = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"chainrule/pages/built/page.js", "chainrule/pages/built/page.css"} <= set(names)
    assert not [name for name in names if "node_modules" in name or name.startswith("web/")]
    assert wheel.stat().st_size < 5_000_000

    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    run(python, "-c", WRITE, cwd=tmp_path)
    assert "<title>From a wheel</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
