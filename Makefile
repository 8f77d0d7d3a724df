# make run · audit · test · lint · bench · clean; each makes .venv from the lock when it is missing.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The folder of an interpreter's packages.
SITE := 'import sysconfig; print(sysconfig.get_path("purelib"))'

.DEFAULT_GOAL := help
.PHONY: help run readme worth codes audit test plans slurm-test lint format bench clean

help: ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(READY): envs/requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement envs/requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

run: $(READY) ## the main job: every table, figure and check (CORES=2)
	$(BIN)/snakemake --cores $(CORES)

worth: $(READY) ## what a cache is worth on real corpora, into README.md (config/worth.yaml names them; 16 minutes of one core, 1.2 GB)
	$(BIN)/snakemake --cores $(CORES) --configfile config/worth.yaml -- results/tables/worth.parquet
	$(BIN)/python workflow/scripts/readme.py --worth

codes: $(READY) ## the filings under the blend and the compressors, primed with 10-K items, into README.md (an hour and a half of two cores, 11 GB)
	$(BIN)/snakemake --cores $(CORES) --configfile config/filings-primed.yaml config/filings-pool.yaml \
		-- results/tables/filings.parquet
	$(BIN)/python workflow/scripts/readme.py --codes

audit: $(READY) ## whether every result is what the project, as it stands, would make
	$(BIN)/attnkernel audit --all

test: $(READY) ## all tests
	$(BIN)/pytest --numprocesses $(CORES) --dist loadfile

# Snakemake loads every plugin that it finds, which costs a start most of a second: these stay out of .venv.
plans: $(READY) ## the whole graph planned for Kubernetes, by its plugins
	$(PYTHON) -m venv --without-pip .venv-plans
	$(BIN)/python -c $(SITE) >"$$(.venv-plans/bin/python -c $(SITE))/project.pth"
	$(BIN)/pip --python .venv-plans/bin/python install --quiet --no-build-isolation --editable '.[cloud]'
	.venv-plans/bin/python -m pytest tests/workflow/test_profiles.py

slurm-test: ## the toy graph through a SLURM started here (root; apt-get install slurm-wlm munge)
	$(PYTHON) -m venv .venv-cluster
	.venv-cluster/bin/pip install --quiet --require-hashes --requirement envs/requirements.lock
	.venv-cluster/bin/pip install --quiet --no-build-isolation --editable '.[cluster,cloud]'
	.venv-cluster/bin/pytest tests/workflow/test_slurm.py tests/workflow/test_profiles.py

readme: $(READY) ## put the results of the last run into README.md
	$(BIN)/python workflow/scripts/readme.py

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
