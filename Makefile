# The only entry point for people, hooks and continuous integration. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.7
PROCESSES ?= 1

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml')
PYTHON_SOURCES := python papers tests benchmarks $(wildcard examples)

# Each step leaves a stamp, so that a step whose inputs did not change is not repeated.
DEPENDENCIES := $(VENV)/.dependencies.stamp
NATIVE := $(VENV)/.native.stamp
# The extension of the papers' algorithms, built as `cargo test` builds: the crates are shared.
PAPERS := PENSTOCK_PAPERS_LIBRARY='$(CURDIR)/target/debug/libpenstock_papers$(if $(filter Darwin,$(shell uname)),.dylib,.so)'
BENCH := $(VENV)/.bench.stamp

.DEFAULT_GOAL := setup
.PHONY: help setup build format check test test-slow test-papers test-kills test-places test-pipelines \
	test-spark-versions adversary bench docs demo lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(NATIVE) ## create .venv, install the locked dependencies, build the kernel

$(DEPENDENCIES): requirements/dev.txt scripts/toolchain.sh
	@python=$$(sh scripts/toolchain.sh '$(PYTHON)') || exit 1; \
	if ! test -x $(BIN)/python || ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		echo "creating $(VENV) with $$($$python --version)"; \
		"$$python" -m venv --clear $(VENV); \
	fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(NATIVE): $(DEPENDENCIES) $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml
	@sh scripts/toolchain.sh '$(PYTHON)' >/dev/null
	VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(BIN)/maturin develop --release --locked
	@touch $@

build: setup ## build a wheel into out/wheels
	$(BIN)/maturin build --release --locked --out out/wheels

format: setup ## rewrite Python and Rust sources in the house format
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)
	$(BIN)/ruff format $(PYTHON_SOURCES)
	cargo fmt --all

check: setup ## format, lint, types, the native stub, the layers
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest --mypy-config-file pyproject.toml penstock._native
	$(BIN)/lint-imports
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The kernel's tests come first: the closing line of `make test` is pytest's.
test: setup ## run every test but the slow ones
	cargo test --quiet --locked --package penstock-kernel --package penstock-joins --package penstock-sequences --package penstock-routing --package penstock-broker
	cargo build --quiet --locked --package penstock-papers
	$(PAPERS) HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadscope

test-slow: setup ## run the long fuzzing and oracle tests
	cargo build --quiet --locked --package penstock-papers
	$(PAPERS) HYPOTHESIS_PROFILE=slow $(BIN)/python -m pytest -m slow

test-papers: setup ## compare the algorithms of the papers with the product, short and long forms
	cargo build --quiet --locked --package penstock-papers
	$(PAPERS) HYPOTHESIS_PROFILE=slow $(BIN)/python -m pytest -m 'slow or not slow' tests/papers

adversary: setup ## attack with random input: 10^6 expressions, 10^5 joins, 10^5 XQueries, 10^5 messages, 10^6 documents, 10^3 costs, 10^3 constructors, 10^3 stacks, 10^6 headers, 10^4 schemas, 10^5 tables
	$(BIN)/python -m penstock_testing.adversary xpath --count 1000000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary xscl --count 100000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary xquery --count 100000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary broker --count 100000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary documents --count 1000000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary costs --count 1000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary constructed --count 1000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary stacks --count 1000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary views --count 1000000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary schemas --count 10000 --processes $(PROCESSES)
	$(BIN)/python -m penstock_testing.adversary tables --count 100000 --processes $(PROCESSES)

test-kills: setup ## kill pipelines and joins at known places; the report is out/kills/report.md
	$(BIN)/python -m tests.spark.kills
	python=$$($(BIN)/python -m tests.spark.helpers.lake_jars python 4.2) && \
	  PYTHONPATH=python "$$python" -m tests.spark.kills delta-0 delta-1
	python=$$($(BIN)/python -m tests.spark.helpers.lake_jars python 4.1) && \
	  PYTHONPATH=python "$$python" -m tests.spark.kills iceberg-0 iceberg-1

test-places: setup ## compare S3, HDFS, Delta and Iceberg, on real servers and other Sparks, with a disk and a model
	$(BIN)/python -m pytest -m slow tests/spark/places tests/spark/lakes

test-pipelines: setup ## compare 200 random pipelines with the engine in process
	$(BIN)/python -m tests.spark.random_pipelines --count 200

test-spark-versions: setup ## run the core of the tests of Spark with 3.5, 4.0, 4.1, 4.2 and 4.3; out/spark-versions/report.md
	$(BIN)/python -m tests.spark.versions

$(BENCH): $(DEPENDENCIES) requirements/bench.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

bench: setup $(BENCH) ## measure one query against the peers; table, JSON and plot in out/bench
	$(BIN)/python -m benchmarks single --json out/bench/single.json

docs: setup ## run the code blocks of README.md and docs/
	$(BIN)/python -m pytest tests/docs

demo: setup ## run a first job on sample data
	@$(BIN)/python examples/demo.py

# The lock is resolved from the public index alone, whatever this machine's pip is configured with.
lock: ## resolve requirements/*.in into locked files with hashes
	@python=$$(sh scripts/toolchain.sh '$(PYTHON)') || exit 1; \
	test -x out/lock/bin/uv || { "$$python" -m venv out/lock && out/lock/bin/pip install --quiet uv==$(UV_VERSION); }
	for set in dev bench spark/3.5 spark/4.0 spark/4.1 spark/4.2 spark/4.3; do \
		env -u PIP_FIND_LINKS -u UV_FIND_LINKS UV_NO_CONFIG=1 out/lock/bin/uv pip compile --quiet \
			--universal --python-version 3.11 --generate-hashes --no-emit-index-url \
			--no-emit-find-links --custom-compile-command 'make lock' \
			--output-file requirements/$$set.txt requirements/$$set.in || exit 1; \
	done

clean: ## remove everything that make produced
	rm -rf $(VENV) out target .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find python papers tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/penstock/_native*.so
