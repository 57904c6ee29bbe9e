# Needs Python 3.11 or later, a C compiler and make.  Each target makes the environment that it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint bench fuzz promises clean

help:
	@echo "make demo    the examples: OpenVINO models and a photograph"
	@echo "make test    all tests, with doctests and the README's snippets"
	@echo "make lint    ruff and mypy"
	@echo "make bench   kernels beside memcpy, NumPy and the peers (installs the peers)"
	@echo "make fuzz    a long run of random chains and claims; N=n for its length, JOBS=n for processes,"
	@echo "             SUMMARY=f.json to go on from the counts of an earlier run"
	@echo "make promises  the attacks on what docs/guarantees.md promises, at length"
	@echo "make clean   remove what these targets made"

demo: $(VENV)/demo.stamp
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/test.stamp
	$(BIN)/python -m tests.fuzz $(or $(N),100000)
	$(BIN)/python -m tests.fuzz_prove --pairs $(or $(N),100000) --jobs $(or $(JOBS),1) $(if $(SUMMARY),--summary $(SUMMARY))

promises: $(VENV)/test.stamp
	$(BIN)/python -m tests.promises.cache
	$(BIN)/python -m tests.promises.compiler

# One stamp per set of extras: an environment is made again only when pyproject.toml asks for something else.
$(VENV)/%.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build demo-output *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
