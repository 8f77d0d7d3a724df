# make run · test · lint · bench · clean; each makes .venv from the lock when it is missing.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help run test lint format bench clean

help: ## say what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(READY): envs/requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement envs/requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

run: $(READY) ## the main job: every table, figure and check (CORES=2)
	$(BIN)/snakemake --cores $(CORES)

test: $(READY) ## all tests
	$(BIN)/pytest

lint: $(READY) ## ruff, mypy, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: $(READY) ## put all code into its layout
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/snakefmt Snakefile workflow/rules

bench: $(READY) ## speed and memory, as ratios against peers in the same run
	$(BIN)/python -m bench

clean: ## remove results and caches, not .venv
	rm -rf results .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
