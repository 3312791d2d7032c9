# Two commands do all set-up on a machine with Python 3.11 or newer and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint clean

demo: .venv/.installed
	$(BIN)/python examples/first_minutes.py

test: .venv/.installed-dev lint
	$(BIN)/python -m pytest -n auto -q

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

# kenlm has no wheels: without a C++ compiler it cannot be installed, and the tests that ask it are skipped.
.venv/.installed-dev: .venv/.installed
	$(PIP) -e '.[dev]'
	$(PIP) -e '.[oracles]' || echo "kenlm could not be built (is there a C++ compiler?): tests that ask it are skipped."
	touch $@

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
