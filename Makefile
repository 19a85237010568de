# make demo | make test: set everything up, then run. Everything else is listed by `make help`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2
export OMP_NUM_THREADS ?= 1

.PHONY: help install demo test test-slow check format bench clean

help:  ## Lists the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(READY)  ## Creates .venv and installs the package with the tested versions.

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)  ## Trains on digits with 60 % wrong labels, prints a table, writes lnp-demo/.
	$(BIN)/lnp demo

test: $(READY)  ## All tests but the slow ones.
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow'

test-slow: $(READY)  ## The slow tests: accuracy targets on published graphs.
	$(BIN)/python -m pytest -n $(JOBS) -m slow

check: $(READY)  ## Formatting, lint, types, layers.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

format: $(READY)  ## Formats and fixes what ruff can fix.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Speed and memory as ratios within one run.
	$(BIN)/python benchmarks/speed.py

clean:  ## Removes .venv and caches.
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache lnp-demo
