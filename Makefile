# Two commands do everything on a fresh machine with Python >= 3.11: make demo, make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-all test-federation test-chaos lint bench tables sensitivity clean
.DEFAULT_GOAL := demo

demo: $(READY)  ## choose pixels of handwritten digits with ten sites
	$(BIN)/fedsieve demo

test: lint  ## linters, types, import rules, tests, doctests
	# numba looks only at a kernel's own file: forget kernels that are older than what is compiled into them.
	for shared in degrees compiled; do find src -name '*.nb[ic]' ! -newer src/fedsieve/kernels/$$shared.py -delete; done
	$(BIN)/python -m pytest -n 2

test-all: $(READY)  ## the long tests that make test leaves out and that need no servers
	$(BIN)/python -m pytest -n 2 -m full

test-federation: $(READY)  ## the slow tests with real servers and sites: killed, hanging, restarted, impostors; simulation
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,simulation]'
	$(BIN)/python -m pytest -m federation tests/federation

test-chaos: $(READY)  ## sites, server and operator killed in every phase of a run, most of an hour; writes its record
	$(BIN)/python -m pytest -n 2 --dist loadfile -m chaos tests/federation/chaos --write-record

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## speed against peers in one run; damage and lies; what the rules of a site cost
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.rivals
	$(BIN)/python -m benchmarks.robustness
	$(BIN)/python -m benchmarks.privacy
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.federation
	$(BIN)/python -m benchmarks.rules
	$(BIN)/python -m benchmarks.secure_sums
	$(BIN)/python -m benchmarks.privacy_budget
	$(BIN)/python -m benchmarks.shift
	$(BIN)/python -m benchmarks.ranges

tables: $(READY)  ## the paper's tables and figure beside ours, and the page about quality; resumes where it stopped
	$(BIN)/fedsieve benchmark $(filter-out %/sensitivity.toml,$(wildcard benchmarks/paper/*.toml)) benchmarks/quality/*.toml --jobs 2

sensitivity: $(READY)  ## one factor of SSFMLFS at a time on five datasets: says first how long it takes; resumes
	$(BIN)/fedsieve benchmark benchmarks/paper/sensitivity.toml --jobs 2

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache demo-result build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip takes exact versions from constraints.txt; ranges for users are in pyproject.toml.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "FedSieve needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@
