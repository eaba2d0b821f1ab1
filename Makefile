# `make run` and `make test` need Python 3.11 or newer, Git and make; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test faults bench lint clean

run: $(VENV)/.installed
	$(BIN)/boresight quickstart

test: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n 2 --dist worksteal tests

# Kills, full disks and limits at many more moments than `make test` tries, some as root only; see tests/faults.
faults: $(VENV)/.test-installed
	BORESIGHT_FAULTS=full $(BIN)/python -m pytest -n 2 --dist worksteal tests/faults

# Prints a table of speed; see docs/performance.md. Only a quiet machine gives figures worth reading.
bench: $(VENV)/.test-installed
	$(BIN)/python -m tests.bench

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Boresight needs Python 3.11 or newer; set PYTHON, as in: make run PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dense]'
	@touch $@

$(VENV)/.test-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dense,test]'
	@touch $(VENV)/.installed $@
