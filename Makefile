# Every target prepares what it needs in .venv, once; only Python 3.11 or newer has to be there.
# An install is repeated when a pyproject.toml (or a target's own list) has changed.

VENV ?= .venv
# A name on PATH may be a shim that fails, so the interpreter is tried, not only looked up.
PYTHON ?= $(shell python3.11 -c "" 2>/dev/null && echo python3.11 || echo python3)
WORKERS ?= 2
# The fuzzer: how many problems, from which seed, for how long; the same command goes on where it stopped.
COUNT ?= 100000
SEED ?= 0
SECONDS ?= 7200

BIN := $(VENV)/bin
PROJECTS := pyproject.toml reproduction/pyproject.toml
# There are two distributions: sinkdist, and sinkdist-paper in reproduction/ with the demo and the
# paper's figures. Their sources are installed in place: editing them needs no new install.
PIP := $(BIN)/python -m pip install --disable-pip-version-check
ifdef CI
PIP += --quiet --no-input --progress-bar off
PYTEST_CI := --durations=10
endif
PYTEST := $(BIN)/python -m pytest $(PYTEST_CI)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo paper docs test test-all test-arrays test-nojit fuzz fuzz-short lint format bench clean

help:  ## say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.paper  ## which of 1,600 dictionary definitions mean alike, and what moves between digits
	$(BIN)/sinkdist demo

paper: $(VENV)/.paper  ## run a small version of the paper's experiments, and write a report
	$(BIN)/sinkdist reproduce all --quick

docs: $(VENV)/.docs  ## build the documentation site with its gallery into build/docs, and open it in a browser
	$(BIN)/python -m sphinx -b html -E -W --keep-going docs build/docs
	$(PYTEST) tests/behaviour/test_site.py

test: $(VENV)/.test  ## run the tests, without the slow ones
	$(PYTEST) -n $(WORKERS) -m "not slow"

test-all: $(VENV)/.test  ## run every test
	$(PYTEST) -n $(WORKERS)

test-arrays: $(VENV)/.arrays  ## run the tests on torch and JAX arrays (a large download at first)
	$(PYTEST) -n $(WORKERS) -m "not slow" tests/pairs/arrays tests/solvers/arrays tests/solvers/adjoint \
	  tests/api/test_divergence.py tests/behaviour/test_losses.py tests/behaviour/test_kept_promises_devices.py

test-nojit: $(VENV)/.test  ## run a quick selection of tests with compilation switched off
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m nojit tests reproduction/tests

fuzz: $(VENV)/.test  ## solve random problems and judge the answers by oracles (COUNT, SEED, SECONDS)
	$(BIN)/python -m tests.fuzz --count $(COUNT) --seed $(SEED) --seconds $(SECONDS) \
	  --processes $(WORKERS) --resume .fuzz/seed-$(SEED).jsonl

fuzz-short: $(VENV)/.test  ## the same for the first 2,000 problems
	$(BIN)/python -m tests.fuzz --count 2000 --seconds 600 --processes $(WORKERS)

lint: $(VENV)/.lint  ## check style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config reproduction/pyproject.toml

format: $(VENV)/.lint  ## lay the code out and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench  ## measure against other packages (a large download at first)
	$(BIN)/python -m benchmarks

clean:  ## remove everything that was made here
	rm -rf $(VENV) build dist docs/_generated docs/benchmarks docs/gallery docs/sg_execution_times.rst sinkdist-demo sinkdist-paper .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .fuzz
	find src tests reproduction benchmarks -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "sinkdist needs Python 3.11 or newer: name one with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.paper: $(PROJECTS) | $(BIN)/python
	$(PIP) --editable ".[all]" --editable ./reproduction
	@touch $@

$(VENV)/.test: $(PROJECTS) | $(BIN)/python
	$(PIP) --editable ".[test]" --editable "./reproduction[test]"
	@touch $@

# Pinned: the newest torch may come as a build for graphics cards, which is gigabytes.
$(VENV)/.arrays: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[test,torch,jax]" torch==2.13.0
	@touch $@

$(VENV)/.docs: $(PROJECTS) docs/requirements.txt | $(BIN)/python
	$(PIP) --editable ".[test]" --editable ./reproduction --requirement docs/requirements.txt
	@touch $@

$(VENV)/.lint: $(PROJECTS) | $(BIN)/python
	$(PIP) --editable ".[all,lint]" --editable ./reproduction
	@touch $@

$(VENV)/.bench: $(PROJECTS) benchmarks/requirements.txt | $(BIN)/python
	$(PIP) --editable ".[test]" --editable ./reproduction --requirement benchmarks/requirements.txt
	@touch $@
