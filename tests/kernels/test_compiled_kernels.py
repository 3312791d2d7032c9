"""Kernels that are kept on disk are compiled anew when any source that they are made of changes."""

import re
import subprocess
import sys

from chainrule.kernels import compiled, vectors_training

PACKAGE = compiled.Path(compiled.__file__).parent


def fingerprint_with(folder, name, text):
    (folder / f"{name}.py").write_text(text)
    compiled.fingerprint.cache_clear()
    return compiled.fingerprint(folder / "outer.py")


def test_changing_an_imported_kernel_changes_the_name_in_the_cache(tmp_path):
    (tmp_path / "inner.py").write_text("x = 1\n")
    (tmp_path / "middle.py").write_text("from chainrule.kernels.inner import x\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    first = fingerprint_with(tmp_path, "outer", "from chainrule.kernels.middle import (\n    x,\n)\n")
    assert fingerprint_with(tmp_path, "inner", "x = 2\n") != first
    assert fingerprint_with(tmp_path, "inner", "x = 1\n") == first
    assert fingerprint_with(tmp_path, "other", "x = 2\n") == first


def test_a_kernel_is_cached_by_a_fingerprint_of_all_its_sources():
    name = vectors_training.learn_chunk.py_func.__qualname__
    assert name == "learn_chunk." + compiled.fingerprint(PACKAGE / "vectors_training.py")


def test_every_kernel_is_compiled_in_this_way():
    """`njit` of its own would keep stale code; `compiled.py` is the one place for it."""
    others = [path.name for path in PACKAGE.glob("*.py") if path.name != "compiled.py"
              and re.search(r"\bnjit\b", path.read_text(encoding="utf-8"))]
    assert not others


def test_compiling_kernels_is_logged_but_loading_them_is_not(tmp_path):
    program = ("import logging, sys\nlogging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format='%(name)s: "
               "%(message)s')\nlogging.getLogger('numba').setLevel(logging.WARNING)\nimport numpy as np\nfrom "
               "chainrule.kernels.vectors_reading import next_random\nnext_random(np.array([7], np.uint64))")
    first, second = (subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                                    env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}).stdout for _ in range(2))
    assert first == "chainrule.steps: compiling kernels, once on this machine\n"
    assert second == ""


def test_kernels_do_not_load_scipy_and_products_of_matrices_compile_all_the_same():
    script = """
import sys
import numpy as np
from chainrule.kernels.classifier_training import fill_random
fill_random(np.zeros((1, 16), np.float32), 0, 1, 16, 3)
assert "scipy.linalg" not in sys.modules
import numba
a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
try:
    import scipy
except ImportError:
    sys.exit(0)
np.testing.assert_array_equal(numba.njit(lambda x, y: x @ y)(a, b), a @ b)
assert "scipy.linalg" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
