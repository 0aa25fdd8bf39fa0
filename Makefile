# Everything a developer starts; `make` alone lists it.
#
# The first run makes .venv from the hashed lists in requirements/, with uv.
# INSTALLER=pip does it with pip alone (slower; for networks where only pip is configured).

PY ?= python3
INSTALLER ?= uv
PYTHON := .venv/bin/python
# Two workers: most tests wait for nothing, and more would fight for the database.
PYTEST := $(PYTHON) -m pytest -rs
PARALLEL ?= -n 2 --dist loadfile
.DEFAULT_GOAL := help
.PHONY: help demo serve test test-fast crash mutants soak check lint lock clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/ -/' | sort

# Installing -------------------------------------------------------------------------------------------------

.venv/.boot: requirements/boot.txt
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; PY=python3.12 names another one"; exit 1; }
	@echo "→ making .venv"
ifeq ($(INSTALLER),uv)
	@$(PY) -m venv --without-pip .venv \
	  && $(PY) -m pip --python .venv/bin/python install -q --disable-pip-version-check --require-hashes -r requirements/boot.txt \
	  || { rm -rf .venv; $(PY) -m venv .venv && .venv/bin/python -m pip install -q --require-hashes -r requirements/boot.txt; } \
	  || { echo "python3 (3.11 or newer) needs venv and pip; on Debian: apt install python3-venv python3-pip"; exit 1; }
else
	@$(PY) -m venv .venv || { echo "python3 (3.11 or newer) needs venv; on Debian: apt install python3-venv"; exit 1; }
endif
	@touch $@

.venv/.base: .venv/.boot requirements/base.txt
	@echo "→ installing what the product needs (requirements/base.txt)"
	@$(call install,requirements/base.txt)
	@rm -f .venv/.dev; touch $@

.venv/.dev: .venv/.boot requirements/dev.txt
	@echo "→ installing what the tests need, too (requirements/dev.txt)"
	@$(call install,requirements/dev.txt)
	@touch .venv/.base $@

# boot.txt stays in the list, else the sync would remove uv itself.
install = if [ -x .venv/bin/uv ]; \
  then .venv/bin/uv pip sync -q --python .venv/bin/python --require-hashes requirements/boot.txt $(1); \
  else .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r $(1); fi

# Running ----------------------------------------------------------------------------------------------------

demo: .venv/.base  ## the whole product from one terminal: chat, console, admin, demo servers, offline model
	@exec $(PYTHON) manage.py demo

serve: .venv/.base  ## the server with its worker in one process, on your own settings
	@exec $(PYTHON) manage.py serve --embedded

# Testing ----------------------------------------------------------------------------------------------------

# Three passes: everything quick on SQLite; what touches the database again on PostgreSQL; real processes and
# browsers last. All of them run, whichever fails. REQUIRE_SERVICES=1 turns a missing service into a failure.
test: .venv/.dev  ## every test, on what this machine has
	@status=0; \
	echo "→ tests on SQLite"; $(PYTEST) $(PARALLEL) -m "not acceptance and not browser" || status=1; \
	echo "→ database tests again, on PostgreSQL"; \
	TEST_ON=postgres $(PYTEST) $(PARALLEL) -m "database and not acceptance and not browser" || status=1; \
	echo "→ real processes and browsers"; $(PYTEST) $(PARALLEL) -m "acceptance or browser" || status=1; \
	exit $$status

test-fast: .venv/.dev  ## the quick tests alone, on SQLite
	@$(PYTEST) $(PARALLEL) -m "not acceptance and not browser"

crash: .venv/.dev  ## strike processes at every point of the write path, with kill, raise and hang
	@$(PYTEST) $(PARALLEL) -m crash --durations=5

mutants: .venv/.dev  ## remove each guard of the write path in turn; the crash tests must catch it
	@$(PYTHON) -m tests.mutants

# TRANSACTIONS customers, or as many as come in MINUTES; SEED repeats a run; OPTIONS as `python -m tests.soak --help`.
SOAK = $(if $(TRANSACTIONS),--transactions $(TRANSACTIONS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))
soak: .venv/.dev  ## SIGKILL of everything at random while customers play; judged by the servers' own ledgers
	@$(PYTHON) -m tests.soak $(SOAK) $(OPTIONS)

# A configuration as production has it; every warning of the deployment check is a failure.
PRODUCTION = ENVIRONMENT=production ALLOWED_HOSTS=chat.example.org LLM_BASE_URL=https://llm.example.org/v1 \
  DATABASE_URL=postgresql://app@db.example.org/app REDIS_URL=redis://redis.example.org/0 \
  SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(64))')

lint: .venv/.dev  ## format, lint, types, import contracts, migrations, deployment check
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy agentplatform transactions tooling
	.venv/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run
	$(PRODUCTION) $(PYTHON) manage.py check --deploy --fail-level WARNING

check: lint test  ## everything that must hold before a merge

# Housekeeping -----------------------------------------------------------------------------------------------

COMPILE = .venv/bin/uv pip compile -q --generate-hashes --no-emit-index-url --no-emit-find-links --python-version 3.11
lock: .venv/.boot  ## resolve pyproject.toml into requirements/ again; UPGRADE=--upgrade takes newer versions
	$(COMPILE) $(UPGRADE) requirements/boot.in -o requirements/boot.txt
	$(COMPILE) $(UPGRADE) pyproject.toml -o requirements/base.txt
	$(COMPILE) $(UPGRADE) pyproject.toml --extra dev -c requirements/base.txt -o requirements/dev.txt

clean:  ## remove what was installed and generated, and the demo's data
	rm -rf .venv var staticfiles .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
