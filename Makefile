# Everything a person types. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# An interpreter of your choice: make setup PYTHON=/path/to/python3.12
PYTHON ?=
PYTEST_ARGS ?=
BENCH_ARGS ?=
# Raise the pins: make lock UPGRADE=--upgrade
UPGRADE ?=

BIN := .venv/bin
STAMP := .venv/.setup-done
BENCH_BIN := .venv-bench/bin
BENCH_STAMP := .venv-bench/.setup-done
LOCKS := requirements
CODE := $(wildcard src tests examples bench docs web/build_console.py hatch_build.py)
# Two workers at most: the suite also runs processes of its own.
PARALLEL := -n 2 --dist loadfile

# $(call make_env,DIR): a virtual environment in DIR with the pinned uv in it, whatever the machine has.
define make_env
python=""; \
for candidate in $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python3.14); do \
  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
    python="$$candidate"; break; fi; done; \
if [ -z "$$python" ]; then \
  echo "Condor needs Python 3.11 or newer with its venv module, and found none$(if $(PYTHON), at $(PYTHON))." >&2; \
  echo "Install it (Debian, Ubuntu: apt-get install python3 python3-venv) or name one: make setup PYTHON=/path/to/python3.11" >&2; \
  exit 1; fi; \
if ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then "$$python" -m venv --clear $(1); fi; \
$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCKS)/build.txt
endef

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## make .venv with everything, from the hashed locks; quick when nothing changed
	@$(BIN)/python web/build_console.py

.PHONY: console
console: $(STAMP) ## build the web console into the package; needs Node 20 and npm
	@$(BIN)/python web/build_console.py --required

$(STAMP): pyproject.toml $(LOCKS)/build.txt $(LOCKS)/runtime.txt $(LOCKS)/dev.txt
	@$(call make_env,.venv)
	@$(BIN)/uv pip install --python $(BIN)/python --require-hashes -r $(LOCKS)/runtime.txt -r $(LOCKS)/dev.txt
	@$(BIN)/uv pip install --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# The wire tests read our frames with the real client packages, and the record is tested against a third-party
# FHIR server; without Node they say so and are skipped.
WIRE := $(patsubst %/package-lock.json,%/node_modules/.package-lock.json,$(wildcard tests/wire/package-lock.json tests/hms/fhir_server/package-lock.json))

.PHONY: wire
wire: $(WIRE)
	@:

%/node_modules/.package-lock.json: %/package-lock.json
	@if node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null; then \
	  npm ci --prefix $* --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "No Node 20 or newer with npm here: the wire tests and those of the FHIR server will be skipped." >&2; fi

.PHONY: demo
demo: setup ## the demo hospital: in the console where it was built, else told in the terminal
	@if [ -t 0 ] && [ -t 1 ] && [ -f src/condor/console/built/index.html ]; then \
	  $(BIN)/condor demo --serve; else $(BIN)/condor demo; fi

.PHONY: lint
lint: setup ## style
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)

.PHONY: types
types: setup ## mypy, strict
	@$(BIN)/mypy $(CODE)

.PHONY: contracts
contracts: setup ## who may import whom
	@$(BIN)/lint-imports --no-cache

.PHONY: check
check: lint types contracts ## the fast round: style, types, contracts, and the tests that take no time
	@$(BIN)/pytest $(PARALLEL) -q -m "not slow" $(PYTEST_ARGS)

.PHONY: test
test: lint types contracts wire ## everything; the last line is pytest's
	@$(BIN)/pytest $(PARALLEL) -m "not load" $(PYTEST_ARGS)

.PHONY: load
load: setup ## figures that take minutes: races, a thousand streams, latencies
	@$(BIN)/pytest -m load -s $(PYTEST_ARGS)

.PHONY: cover
cover: setup wire ## the whole suite with branch coverage: the core whole, the rest nearly
	@$(BIN)/coverage erase
	@$(BIN)/pytest $(PARALLEL) -m "not load" --cov --cov-report= $(PYTEST_ARGS)
	@$(BIN)/coverage report --include='src/condor/core/*' --fail-under=100
	@$(BIN)/coverage report --fail-under=95

.PHONY: format
format: setup ## let ruff put the code in shape
	@$(BIN)/ruff check --fix-only --unsafe-fixes --select I,TC --quiet $(CODE)
	@$(BIN)/ruff check --fix $(CODE) || true
	@$(BIN)/ruff format $(CODE)

.PHONY: docs
docs: setup ## write the generated parts of the documentation anew
	@$(BIN)/python docs/generate.py

.PHONY: crash
crash: setup ## kill -9 by the hundred, and machines of runs; SEEDS=220
	@CONDOR_CRASH_SEEDS=$(or $(SEEDS),220) CONDOR_MACHINES=60 CONDOR_MACHINE_STEPS=50 \
	  $(BIN)/pytest -n 2 --dist load -o faulthandler_timeout=1800 tests/simulation \
	  tests/postgres/whole/test_crash.py tests/postgres/workers/test_crash.py $(PYTEST_ARGS)

.PHONY: broken
broken: setup ## take behaviours out of a copy of the source; every test that holds one must fail
	@$(BIN)/pytest -n 2 --dist load -m load tests/broken $(PYTEST_ARGS)

.PHONY: restarts
restarts: setup ## 1,000 runs with three gates, eight operators, 20 x kill -9; SEED=1
	@CONDOR_RESTART_SEED=$(or $(SEED),1) $(BIN)/pytest -m load -s tests/simulation/test_restarts.py $(PYTEST_ARGS)

.PHONY: workers
workers: setup ## two servers and three workers killed at random, 4 x 300 runs, 20 kills each; SEED=1
	@CONDOR_WORKERS_SEED=$(or $(SEED),1) $(BIN)/pytest -m load -s tests/postgres/workers $(PYTEST_ARGS)

.PHONY: tampering
tampering: setup ## seven kinds of tampering, 50 each on both stores, and 100 clean logs; SEED=1
	@CONDOR_TAMPERINGS=50 CONDOR_CLEAN_LOGS=50 CONDOR_TAMPERING_SEED=$(or $(SEED),1) \
	  $(BIN)/pytest -n 2 --dist load tests/tampering $(PYTEST_ARGS)

.PHONY: bench
bench: $(BENCH_STAMP) ## measure against peers, in an environment of its own
	@$(BENCH_BIN)/python -m bench $(BENCH_ARGS)

$(BENCH_STAMP): pyproject.toml $(LOCKS)/build.txt $(LOCKS)/runtime.txt $(LOCKS)/bench.txt
	@$(call make_env,.venv-bench)
	@$(BENCH_BIN)/uv pip install --python $(BENCH_BIN)/python --require-hashes -r $(LOCKS)/runtime.txt -r $(LOCKS)/bench.txt
	@$(BENCH_BIN)/uv pip install --python $(BENCH_BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# Every lock is resolved from the public index alone, without the machine's own settings, for every
# platform and every Python from 3.11; the groups agree with the runtime on what they share.
COMPILE = env -u UV_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_DEFAULT_INDEX -u UV_FIND_LINKS \
  $(BIN)/uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(UPGRADE)

.PHONY: lock
lock: ## resolve the locks anew (UPGRADE=--upgrade raises the pins)
	@[ -x $(BIN)/uv ] || { $(call make_env,.venv); }
	@$(COMPILE) pyproject.toml --extra checkpoints --extra hms --extra models --extra postgres --extra processors --extra server --extra workers --output-file $(LOCKS)/runtime.txt
	@$(COMPILE) --group pyproject.toml:build --constraints $(LOCKS)/runtime.txt --output-file $(LOCKS)/build.txt
	@$(COMPILE) --group pyproject.toml:dev --constraints $(LOCKS)/runtime.txt --output-file $(LOCKS)/dev.txt
	@$(COMPILE) --group pyproject.toml:bench --constraints $(LOCKS)/runtime.txt --output-file $(LOCKS)/bench.txt

.PHONY: clean
clean: ## remove the environments and every cache
	@rm -rf .venv .venv-bench .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist htmlcov
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
