# Second Opinion. `make run` starts it, `make test` proves it, `make help` lists the rest.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYTEST := $(PY) -m pytest -q -n $(WORKERS)

.PHONY: run test lint bench faults screenshots clean help venv

run: $(VENV)/installed ## Start Second Opinion here. HOST= and PORT= choose the address.
	@exec $(PY) manage.py start

test: $(VENV)/installed-test ## Check style and types and run every test, on SQLite and PostgreSQL.
	@$(PY) -m tests.services install
	@$(MAKE) --no-print-directory lint
	$(PYTEST) -m "not faults"
	$(PY) -m tests.services with-postgres $(PYTEST) -m "not faults and not browser" tests/annotate \
	  --ignore tests/annotate/test_broker.py --ignore tests/annotate/test_settings.py \
	  --ignore tests/annotate/test_start.py

lint: $(VENV)/installed-test ## Check style and types.
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

bench: $(VENV)/installed-test ## Measure speed against the peers.
	$(PY) -m bench

faults: $(VENV)/installed-test ## Run the long proofs: kills, races, full disks.
	@$(PY) -m tests.services install
	$(PYTEST) -m faults

screenshots: $(VENV)/installed-test ## Take the pictures of the documentation again.
	@$(PY) -m tests.services install
	$(PY) -m docs.screenshots

clean: ## Remove what was installed and cached. Your data under var/ stay.
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

help: ## Say what can be made.
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

# Installed again only when what is to be installed changes.

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PY) -m pip --version >/dev/null 2>&1 || $(MAKE) --no-print-directory venv
	@echo "Installing what Second Opinion needs. This takes a minute or two, once."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-test: pyproject.toml constraints.txt
	@$(PY) -m pip --version >/dev/null 2>&1 || $(MAKE) --no-print-directory venv
	@echo "Installing what Second Opinion and its tests need. This takes some minutes, once."
	@$(PIP) --editable '.[test]'
	@touch $(VENV)/installed $@

venv:
	@for python in $(PYTHON) python3.14 python3.13 python3.12 python3.11; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  $$python -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "This Python cannot make virtual environments. On Debian: apt install python3-venv"; \
	    exit 1; }; \
	  exec $$python -m venv --clear $(VENV); \
	done; \
	echo "Second Opinion needs Python 3.11 or later. Install one, or name it: make run PYTHON=…"; \
	exit 1
