# Everything a newcomer runs. Needs: make and Python 3.11 or newer; each target sets up what it uses.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:

# A name on PATH may be a version manager's shim that fails when run, so each candidate is tried, not only found.
PYTHON ?= $(shell for candidate in python3.13 python3.12 python3.11 python3.14 python3; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$candidate" && break; done)
PORT ?= 3000
EVENT ?= events/http-api-query.json
VENV := .venv
BIN := $(VENV)/bin
INDEX := .passage/index

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: setup
setup: $(VENV)/.ready ## Create the development environment in .venv

# Output goes to stderr: `make -s invoke` promises nothing but JSON on stdout.
$(VENV)/.ready: requirements/dev.txt requirements/uv.txt
	@test -n "$(PYTHON)" || { echo "Passage needs Python 3.11 or newer; none was found on PATH (set PYTHON=/path/to/python3)" >&2; exit 1; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version) (once; about a minute)" >&2
	@$(PYTHON) -m venv --clear $(VENV) >&2
	@$(BIN)/python -m pip install -q --require-hashes -r requirements/uv.txt >&2
	@$(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt >&2
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e . >&2
	@touch $@

.venv-sam/.ready: requirements/sam.txt | $(VENV)/.ready
	@echo "Setting up AWS SAM CLI in .venv-sam (once; about a minute)" >&2
	@$(PYTHON) -m venv --clear .venv-sam >&2
	@$(BIN)/uv pip install -q --python .venv-sam/bin/python --require-hashes -r requirements/sam.txt >&2
	@touch $@

# The function's own dependencies and Lambda's runtime client, without what development adds to them.
.venv-function/.ready: requirements/runtime.txt | $(VENV)/.ready
	@echo "Setting up .venv-function, the function's own dependencies (once)" >&2
	@$(PYTHON) -m venv --clear .venv-function >&2
	@$(BIN)/uv pip install -q --python .venv-function/bin/python --compile-bytecode --require-hashes -r requirements/runtime.txt >&2
	@touch $@

.PHONY: index
index: setup ## Index the sample textbook into .passage/index, for every profile
	@$(BIN)/passage index samples/textbook --all-profiles --out $(INDEX)

.PHONY: run
run: index ## Index the textbook and serve the API on 127.0.0.1:3000 (PORT=… to change)
	@$(BIN)/passage serve --index $(INDEX) --port $(PORT)

.PHONY: invoke
invoke: setup ## Print the function's answer to one event (EVENT=events/….json), JSON alone
	@$(BIN)/passage index samples/textbook --all-profiles --out $(INDEX) >&2
	@$(BIN)/passage invoke --index $(INDEX) $(EVENT)

.PHONY: test
test: setup .venv-sam/.ready ## Run every test
	@$(BIN)/pytest $(ARGS)

.PHONY: check
check: setup .venv-sam/.ready ## Lint, format check, types, dependency direction, template
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@AWS_DEFAULT_REGION=eu-central-1 SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam validate --lint

.PHONY: format
format: setup ## Format and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: build
build: setup .venv-sam/.ready ## Build the function and its layer for Lambda with AWS SAM
	@PATH="$(CURDIR)/$(BIN):$$PATH" SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-eu-central-1} .venv-sam/bin/sam build $(ARGS)

.PHONY: bench
bench: setup .venv-sam/.ready .venv-function/.ready ## Measure cold start and warm latency beside an empty and a plain handler
	@$(BIN)/python benchmarks/cold_start.py $(ARGS)

LOCK := $(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command 'make lock'
.PHONY: lock
lock: setup ## Pin the dependencies of pyproject.toml again (ARGS=--upgrade for newer versions)
	@echo "uv>=0.13" | $(LOCK) $(ARGS) - -o requirements/uv.txt
	@$(LOCK) $(ARGS) pyproject.toml -o layers/dependencies/requirements.txt
	@$(LOCK) $(ARGS) pyproject.toml --group dev -c layers/dependencies/requirements.txt -o requirements/dev.txt
	@$(LOCK) $(ARGS) pyproject.toml --group runtime -c requirements/dev.txt -o requirements/runtime.txt
	@$(LOCK) $(ARGS) --group sam -o requirements/sam.txt

.PHONY: clean
clean: ## Remove what the other targets made
	@rm -rf $(VENV) .venv-sam .venv-function .passage .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
