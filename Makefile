# Two commands do everything on a fresh machine with Python 3.11 or newer, make and a C++ compiler:
#
#   make demo    sets up, trains on the built-in corpus, scores, draws: demo/model and demo/report.*
#   make test    sets up and passes the tests
#
# All that is installed lies in .venv. It is made anew when the pins change, and never otherwise.

PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.ready

# Two workers with one thread each beat one worker with two on tests this small.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow check bench clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | awk -F '\t' '{ printf "  make %-11s %s\n", $$1, $$2 }'

setup: $(READY) ## make .venv from the pinned requirements

demo: $(READY) ## train, score and show a translator from the built-in corpus (about 5 minutes)
	$(BIN)/sightline demo -o demo

test: $(READY) ## the tests
	$(PYTEST) -m "not slow"

test-slow: $(READY) ## the tests that take minutes
	$(PYTEST) -m slow

check: $(READY) ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) ## the timings, all of them, more than an hour; one alone: .venv/bin/python -m bench NAME
	$(BIN)/python -m bench

clean: ## remove what the tools left behind; .venv and demo stay
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last: what was broken off is done again. The package itself is installed as a link to src/,
# with the setuptools of the pins, so nothing is fetched that is not in them.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Sightline needs Python 3.11 or newer, and $(PYTHON) is not: name another one, as in make setup PYTHON=python3.12" >&2; exit 1; }
	@echo "set-up 1/3: a virtual environment in .venv"
	@rm -f $@
	@$(PYTHON) -m venv .venv
	@echo "set-up 2/3: the pinned requirements (some hundred megabytes with a CPU build of PyTorch, a minute or more)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	@echo "set-up 3/3: sightline"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m pip check --disable-pip-version-check
	@touch $@
