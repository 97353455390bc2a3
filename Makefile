# `make run` installs and serves; `make test` installs what tests need and proves the product. Installing is quick the second time.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test test-rest test-all test-live quick lint style format types contracts prose unit fuzz web-unit journeys web-rest web-lint web-format coverage mutation bench dist docs providers samples requirements advisories clean

# Without byte code, which some containers turn off, every server that a test starts compiles its modules again: 1.7 of 4.2 s.
unexport PYTHONDONTWRITEBYTECODE

HOST ?= 127.0.0.1
PORT ?= 8000
PYTEST_ARGS ?=
PYTEST := -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
QUICK := tests/agent tests/chunk tests/indexes tests/retrieve tests/storage tests/text tests/test_configuration.py tests/test_points.py

VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev
HAS_WEB := $(wildcard web/package.json)
WEB_BUILD := citewell/static/index.html

help:
	@echo "make run           install, then serve at http://$(HOST):$(PORT)  (HOST=, PORT=, DATA=folder)"
	@echo "make test          install what tests need; linters, types, import contracts, tests, the main journeys in a browser"
	@echo "make test-all      that, and all else: Postgres, vendors' packages, kills, full disks, every browser test"
	@echo "make test-live     the suites against a provider's real service, with your key  (PROVIDER=voyage)"
	@echo "make quick         the tests that need no server, browser or Postgres: for daily work"
	@echo "make coverage      the tests, and the share of each package that they run; below 85 % fails"
	@echo "make mutation      small changes of the citation checker, fusion, filters and owner conditions that tests must notice"
	@echo "make lint          ruff, pyright, import contracts, biome, spelling and grammar"
	@echo "make dist          wheels and source distributions of both packages, in dist/"
	@echo "make docs          the documentation site, in build/site; dead links fail"
	@echo "make bench PDF=…   Citewell and its peers on one PDF"
	@echo "make providers     run the tests of the adapters, and write the table of docs/providers.md again"
	@echo "make samples       write samples/ again"
	@echo "make advisories    known vulnerabilities of what is pinned, from api.osv.dev or a dump of it  (OSV=file or folder …)"
	@echo "make requirements  re-pin requirements/*.txt (UPGRADE=1 for the newest versions)"

run: $(BASE) $(if $(HAS_WEB),$(WEB_BUILD))
	@exec $(BIN)/citewell serve --host $(HOST) --port $(PORT) $(if $(DATA),--data "$(DATA)")

# pytest comes last, so that its summary is the last line. Each test is in one of the tiers: CONTRIBUTING.md says in which.
test: style types $(if $(HAS_WEB),web-unit journeys)
	@$(BIN)/python -m pytest $(PYTEST) -m "not full" $(PYTEST_ARGS)

test-rest: $(DEV) $(if $(HAS_WEB),web-rest)
	@HYPOTHESIS_PROFILE=repeatable $(BIN)/python -m pytest $(PYTEST) -m "full or hypothesis" $(PYTEST_ARGS)

test-all: test
	@$(MAKE) --no-print-directory test-rest fuzz

unit: $(DEV)
	@$(BIN)/python -m pytest $(PYTEST) $(PYTEST_ARGS)

# Generated requests over the whole API, as everybody who may call it.
fuzz: $(DEV)
	@$(BIN)/python scripts/fuzz_api.py --examples 1

test-live: $(DEV)
	@$(BIN)/python scripts/live/run.py "$(PROVIDER)"

quick: $(DEV)
	@$(BIN)/python -m pytest $(PYTEST) -m "not slow and not full" $(QUICK) $(PYTEST_ARGS)

# Every process of Citewell's that a test starts is measured; about twice the time of `make unit`. Without the tests that measure time, which
# measuring lines multiplies.
COVERAGE_FLOOR ?= 85
coverage: $(DEV)
	@rm -rf build/coverage && mkdir -p build/coverage
	@HYPOTHESIS_PROFILE=repeatable $(BIN)/python -m coverage run -m pytest $(PYTEST) --ignore=tests/test_linear_time.py $(PYTEST_ARGS)
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage json --quiet -o build/coverage/report.json
	@$(BIN)/python scripts/coverage_by_package.py build/coverage/report.json $(COVERAGE_FLOOR)

MUTATION_FLOOR ?= 80
mutation: $(VENV)/.installed-mutation
	@$(BIN)/python scripts/mutation.py $(MUTATION_FLOOR)

lint: style types

# All of it but the types, which take a minute.
style: $(DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(if $(HAS_WEB),$(MAKE) --no-print-directory web-lint)
	@$(MAKE) --no-print-directory contracts prose

types: $(DEV)
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

contracts: $(DEV)
	@$(BIN)/lint-imports

prose: $(DEV)
	@$(BIN)/python scripts/check_prose.py

format: $(DEV)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(if $(HAS_WEB),$(MAKE) --no-print-directory web-format)

bench: $(BASE)
	@$(BIN)/python benchmarks/run.py --docs $(if $(PDF),"$(PDF)",$(error Name a file: make bench PDF=report.pdf))

# What `pip install` and `uvx` need: citewell and the weights of its reading model.
dist: $(BASE) $(if $(HAS_WEB),$(WEB_BUILD))
	@rm -rf dist
	@scripts/dist.sh $(VENV) dist
	@ls -sh dist

docs: $(DEV)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

providers: $(DEV)
	@$(BIN)/python scripts/provider_table.py

samples: $(DEV)
	@$(BIN)/python scripts/make_samples.py

requirements: $(VENV)/bin/python
	@scripts/pin_requirements.sh

advisories: $(DEV)
	@$(BIN)/python scripts/advisories.py $(OSV)

clean:
	rm -rf $(VENV) web/node_modules citewell/static .pytest_cache .ruff_cache .import_linter_cache

# ---- installation: stamp files, so that nothing runs twice ----

$(VENV)/bin/python:
	@scripts/make_venv.sh $(VENV)

$(BASE): requirements/base.txt requirements/build.txt pyproject.toml multilingual/pyproject.toml | $(VENV)/bin/python
	@scripts/install.sh $(VENV) requirements/build.txt requirements/base.txt
	@touch $@

$(DEV): $(BASE) requirements/dev.txt requirements/docs.txt
	@scripts/install.sh $(VENV) requirements/dev.txt requirements/docs.txt
	@scripts/ensure_node.sh $(VENV) >/dev/null
	@$(if $(HAS_WEB),scripts/ensure_chromium.sh)
	@touch $@

$(VENV)/.installed-mutation: $(DEV) requirements/mutation.txt
	@scripts/install.sh $(VENV) requirements/mutation.txt
	@touch $@

# ---- the browser interface, once there is one ----

ifneq ($(HAS_WEB),)
NODE_MODULES := web/node_modules/.installed
WEB_SOURCES := $(shell find web \( -name node_modules -o -name test-results -o -name e2e -o -name screenshots -o -name tests -o -name schema.d.ts \) -prune -o -type f -print)

$(NODE_MODULES): web/package-lock.json | $(BASE)
	@echo "Installing what the browser interface is built with (a minute the first time)"
	@scripts/npm.sh $(VENV) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB_BUILD): $(NODE_MODULES) $(WEB_SOURCES)
	@scripts/npm.sh $(VENV) run --silent build -- --logLevel warn
	@touch $@

web-lint: $(NODE_MODULES)
	@scripts/npm.sh $(VENV) run --silent lint

web-format: $(NODE_MODULES)
	@scripts/npm.sh $(VENV) run --silent format

web-unit: $(DEV) $(WEB_BUILD)
	@scripts/npm.sh $(VENV) run --silent check

journeys: $(DEV) $(WEB_BUILD)
	@scripts/npm.sh $(VENV) run --silent browser -- --grep @journey

web-rest: $(DEV) $(WEB_BUILD)
	@scripts/npm.sh $(VENV) run --silent browser -- --grep-invert @journey
endif
