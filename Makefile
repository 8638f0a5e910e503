# Every target sets up what it needs on a machine with Python 3.11 or newer. `make help` lists them.

# Which Python to build .venv with; empty: the newest suitable one on the PATH.
PYTHON ?=

PY := .venv/bin/python
READY := .venv/.ready
DEMO := .venv-demo/bin/python
LOCKS := requirements/build.txt requirements/demo.txt requirements/dev.txt

# Spark's workers must be the same Python, and no other Spark may come in between.
export PYSPARK_PYTHON := $(CURDIR)/$(PY)
export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(PY)
export SPARK_LOCAL_IP ?= 127.0.0.1
# Certificates are those that the system trusts, as pip has them.
export UV_SYSTEM_CERTS ?= true
unexport SPARK_HOME PYTHONPATH PYTHONHOME VIRTUAL_ENV
# Without bytecode every worker that Spark starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Put before a command that starts Spark.
WITH_JAVA = JAVA_HOME="$$(sh scripts/java.sh)" && export JAVA_HOME &&

.DEFAULT_GOAL := help
.PHONY: help demo quick test law fuzz soak kills page breakages wheels sail cluster bench bench-cluster against bench-smoke experiments-smoke lint types \
	check format clean coverage lock canary audit hooks docs notebooks release

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F'|' '{ printf "%-26s %s\n", $$1, $$2 }'

.venv/.ready .venv-demo/.ready: .venv%/.ready: pyproject.toml $(LOCKS) scripts/venv.sh
	@PYTHON='$(PYTHON)' sh scripts/venv.sh $(or $(patsubst -%,%,$*),dev)

demo: export PYSPARK_PYTHON := $(CURDIR)/$(DEMO)
demo: export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(DEMO)
demo: .venv-demo/.ready ## show what fanlight does, on real flights
	@$(WITH_JAVA) $(DEMO) -m demo

# Two processes, for two cores: one runs this half; both must succeed.
HALF := tests/operators tests/algebra tests/kernels
QUICK := not spark and not installs and not slow

quick: $(READY) ## run the tests that need no JVM and are not slow, in about a minute
	@$(PY) -m pytest -q -m "$(QUICK)" $(HALF) & half=$$!; \
		$(PY) -m pytest -q -m "$(QUICK)" $(addprefix --ignore=,$(HALF)); rest=$$?; \
		wait $$half && exit $$rest

# THOROUGH=1 asks all that can be asked (tests/README.md); without it, it is a sample.
# Two processes, for two cores: one has what needs no JVM, and then as much of Spark as makes both
# equal (FIRST in tests/conftest.py); the other one has the rest of Spark, and the law.
test: $(READY) ## run all tests, by a sample of asks and examples (`make law`: all)
	@JAVA_HOME="$$(sh scripts/java.sh)" && export JAVA_HOME || exit 1; \
		$(PY) -m pytest -q -m first & half=$$!; \
		$(PY) -m pytest -q -m "not first"; rest=$$?; \
		wait $$half && exit $$rest

law: $(READY) ## run all tests, ask all that the law can ask, with all examples (`make test`: a sample of each)
	@$(WITH_JAVA) THOROUGH=1 $(PY) -m pytest -q

fuzz: $(READY) ## ask queries that nobody wrote (COUNT=10000, STREAMS=1000, SEED=: another one each time)
	@$(WITH_JAVA) $(PY) -m tests.fuzz $(or $(COUNT),10000) $(if $(SEED),--seed $(SEED)) \
		$(if $(STREAMS),--streams $(STREAMS))

soak: $(READY) ## kill streams of every kind, and look for what is lost (COUNT=20, SEED=, MINUTES=, CLUSTER=1, EVERY=1)
	@$(WITH_JAVA) $(PY) -m tests.soak $(or $(COUNT),20) $(if $(SEED),--seed $(SEED)) \
		$(if $(CLUSTER),--cluster) $(if $(EVERY),--every) $(if $(MINUTES),--minutes $(MINUTES))

kills: $(READY) ## kill a stream of each engine once, and look for what is lost
	@$(WITH_JAVA) THOROUGH=1 $(PY) -m pytest -q tests/soak -k "not every"

page: $(READY) ## make the demo's page of all flights, and look at it in a browser
	@$(WITH_JAVA) THOROUGH=1 $(PY) -m pytest -q tests/demo/test_whole_page.py

breakages: $(READY) ## break the source in many places: each must be seen by a test
	@$(WITH_JAVA) $(PY) -m tests.breakages

wheels: $(READY) ## install the wheel alone, on the oldest and newest PySpark, and try each kind (ALL=1: on every PySpark, and write the page; SPARK=4.1.0, next)
	@$(WITH_JAVA) $(PY) -m scripts.wheels $(if $(ALL),all,$(SPARK))

sail: $(READY) ## try each kind on Sail, and write down what it gives (docs/sail.md)
	@$(WITH_JAVA) $(PY) -m scripts.sail

cluster: $(READY) ## run a standalone Spark cluster on this machine until Ctrl-C (WORKERS=2, CORES=1, MEMORY=2g, PORT=7077)
	@$(WITH_JAVA) $(PY) -m scripts.cluster $(if $(WORKERS),--workers $(WORKERS)) \
		$(if $(CORES),--cores $(CORES)) $(if $(MEMORY),--memory $(MEMORY)) $(if $(PORT),--port $(PORT))

bench: $(READY) ## time fanlight beside Spark's own windows
	@$(WITH_JAVA) $(PY) -m benchmarks

bench-cluster: $(READY) ## time one core, two cores and a cluster of two workers, up to 100,000,000 rows
	@$(WITH_JAVA) $(PY) -m benchmarks --only cluster --write

against: $(READY) ## time the source beside a revision of before (REV=HEAD)
	@$(WITH_JAVA) $(PY) -m benchmarks.against $(or $(REV),HEAD)

bench-smoke: $(READY) ## run every seventh benchmark once, on little data (ALL=1: every one)
	@$(WITH_JAVA) $(PY) -m benchmarks --smoke $(if $(ALL),,--sample)
	@$(WITH_JAVA) $(PY) -m benchmarks.against HEAD --rows 20000 --rounds 1 --only 60/1 --only "delta, stream"

experiments-smoke: $(READY) ## run the shorter experiments of the papers, on little data (ALL=1: every one)
	@$(PY) -m experiments.panes --smoke
	@$(WITH_JAVA) $(PY) -m experiments.panes.choices --smoke
	@$(PY) -m experiments.multi_granular --smoke
	@$(PY) -m experiments.frames --smoke
	@$(PY) -m experiments.seams --smoke
	@$(WITH_JAVA) $(PY) -m experiments.fraud --smoke
	@$(WITH_JAVA) $(PY) -m experiments.widening --smoke
ifdef ALL
	@$(WITH_JAVA) $(PY) -m experiments.panes.on_spark --smoke
	@$(WITH_JAVA) $(PY) -m experiments.multi_granular.on_spark --smoke
	@$(WITH_JAVA) $(PY) -m experiments.multi_granular.streamed --smoke
	@$(PY) -m experiments.spanning --smoke
	@$(WITH_JAVA) $(PY) -m experiments.frames --spark --smoke
endif

lint: $(READY) ## check style and format, and name files with much code, which is a hint
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m scripts.long_files

types: $(READY) ## check types
	@$(PY) -m mypy

check: lint types test ## lint, types and tests

format: $(READY) ## format the code and mend what can be mended
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

coverage: $(READY) ## run all tests and show which lines they reach
	@$(WITH_JAVA) THOROUGH=1 $(PY) -m pytest -q --cov --cov-report=term --cov-report=html

# What mkdocs-material says of a future mkdocs is none of the site's mistakes.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(READY) ## build the documentation into out/site, strictly (SERVE=1: serve it, anew after each change)
	@$(PY) -m mkdocs $(if $(SERVE),serve,build --strict)
	@echo "out/site/index.html; for its search: $(PY) -m http.server -d out/site"

notebooks: $(READY) ## run the notebooks of the documentation, and keep what they show
	@$(WITH_JAVA) $(PY) -m scripts.notebooks

release: $(READY) ## build and check what goes out, for the version that is tagged (REPOSITORY=https://…, UPLOAD=1)
	@$(PY) -m scripts.release $(if $(UPLOAD),--upload)

# One version of a package, whichever environment it is in.
PIN = $(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --quiet \
	--no-emit-package fanlight --no-emit-index-url --no-emit-find-links \
	--custom-compile-command 'make lock'
PINNED := --constraints requirements/dev.txt

lock: $(READY) ## pin what development, the demo and builds install (UPGRADE=1: the newest of everything)
	@$(PIN) pyproject.toml --extra dev $(if $(UPGRADE),--upgrade) --output-file requirements/dev.txt
	@$(PIN) pyproject.toml --extra demo $(PINNED) --output-file requirements/demo.txt
	@$(PIN) --group build $(PINNED) $(if $(UPGRADE),--upgrade) --output-file requirements/build.txt

# In the environment of development, which `make` then sets up anew from its lock.
canary: ## try the newest release of everything (PANDAS=2: with that pandas), tests and wheels
	@PYTHON='$(PYTHON)' UNLOCKED=1 sh scripts/venv.sh
	@$(if $(PANDAS),$(PY) -m uv pip install --quiet --python $(PY) 'pandas==$(PANDAS).*')
	@$(MAKE) --no-print-directory test wheels
	@rm .venv/.ready

audit: $(READY) ## compare what is installed with the known vulnerabilities
	@$(PY) -m uv tool run --from 'pip-audit==2.10.1' pip-audit --strict --disable-pip --require-hashes \
		$(foreach one,$(LOCKS),--requirement $(one))

hooks: $(READY) ## check each commit: what .pre-commit-config.yaml lists
	@$(PY) -m pre_commit install

clean: ## remove caches and outputs (the environments stay)
	@rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		spark-warehouse metastore_db derby.log .coverage .coverage.*
	@find . -path './.venv*' -prune -o -path ./.git -prune -o \
		-name __pycache__ -type d -prune -exec rm -rf {} +
