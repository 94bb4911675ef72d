# Two commands do everything on a fresh machine with Python >= 3.11: make demo, make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
DEMO := .venv/.demo
READY := .venv/.ready
# pip takes exact versions from constraints.txt; ranges for users are in pyproject.toml.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

# Test files that pytest has rewritten, and our own modules, are kept for the next process; make clean removes them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-browser test-federation test-chaos lint docs wheel test-wheel sbom bench profile tables wide-tables held-out sensitivity clean
.DEFAULT_GOAL := demo

demo: $(DEMO)  ## choose pixels of handwritten digits with ten sites
	$(BIN)/fedsieve demo

test: $(READY)  ## linters, types, import rules, tests, doctests
	# numba looks only at a kernel's own file: forget kernels that are older than what is compiled into them.
	for shared in degrees compiled tree_steps; do find src -name '*.nb[ic]' ! -newer src/fedsieve/kernels/$$shared.py -delete; done
	# Kernels are compiled beside the linters, which take one core: on a fresh clone both workers would compile them all.
	$(BIN)/python -c 'from fedsieve import kernels; kernels.warm_up()' & compiling=$$!; \
	$(MAKE) --no-print-directory lint; passed=$$?; wait $$compiling && exit $$passed
	# A file's tests in one worker: what they share is made once.
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: $(READY)  ## the long tests that make test leaves out and that need no servers
	$(BIN)/python -m pytest -n 2 -m full -k 'not array_api_input'
	# scikit-learn's checks of other libraries' arrays: scipy asks for this when it is loaded, else they skip.
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -n 2 -m full -k array_api_input tests/rivals tests/selectors

test-browser: $(READY)  ## the report's page and the live view in a real browser; installs Debian's chromium if there is none
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core)
	$(INSTALL) '.[browser]'
	$(BIN)/python tools/vendored.py --fetch axe-core
	$(BIN)/python tools/vendored.py
	$(BIN)/python -m pytest -m browser tests/browser

test-federation: $(READY)  ## the slow tests with real servers and sites: killed, hanging, restarted, impostors; simulation
	$(INSTALL) '.[dev,simulation]'
	# Two files at a time: mostly they wait. In the order of their names, the last of which are short.
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m federation tests/federation

test-chaos: $(READY)  ## sites, server and operator killed in every phase of a run, most of an hour; writes its record
	$(BIN)/python -m pytest -n 2 --dist loadfile -m chaos tests/federation/chaos --write-record

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DEMO)  ## the documentation site, in build/site; warnings are errors, links within it are checked
	$(INSTALL) '.[docs]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/site/build.py

wheel: $(DEMO)  ## dist/: the package as people install it
	$(INSTALL) '.[release]'
	rm -rf dist
	$(BIN)/python -m build --quiet

test-wheel: wheel  ## the wheel in empty environments, on every supported Python that is found or can be installed, and by uvx
	$(BIN)/python tools/wheel.py dist/*.whl
	$(BIN)/hadolint Dockerfile

sbom: wheel  ## dist/sbom.cdx.json: what comes with the wheel and all extras, as CycloneDX
	rm -rf build/sbom
	$(PYTHON) -m venv --without-pip build/sbom
	$(BIN)/python -m pip --python build/sbom/bin/python install --quiet --constraint constraints.txt "$$(ls dist/*.whl)[all]"
	$(BIN)/cyclonedx-py environment build/sbom/bin/python --pyproject pyproject.toml --mc-type library \
	    --output-reproducible --output-file dist/sbom.cdx.json

bench: $(READY)  ## speed against peers in one run; damage and lies; what the rules of a site cost
	$(INSTALL) '.[bench,simulation]'
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.scaling
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
	$(BIN)/python -m benchmarks.knockoffs
	$(BIN)/python -m benchmarks.nonlinear

profile: $(READY)  ## where the time of one selection goes, by room and by library
	$(INSTALL) '.[bench]'
	$(BIN)/python -m benchmarks.where_time_goes

tables: $(READY)  ## the paper's tables and figure beside ours; resumes where it stopped
	$(BIN)/fedsieve benchmark $(filter-out $(wildcard benchmarks/paper/sensitivity*.toml),$(wildcard benchmarks/paper/*.toml)) --jobs 2
	$(BIN)/python -m benchmarks.published_search

# In the order of what they tell; each writes its tables when it is done, and `fedsieve benchmark --report-only` before.
QUALITY := selection_quality labels_5 shifted forests labels_10 sites_2 sites_50 alpha_01 registry
wide-tables: $(READY)  ## the page about quality, hours in all: resumes, and may be stopped at any time
	$(BIN)/fedsieve benchmark $(QUALITY:%=benchmarks/quality/%.toml) --jobs 2

held-out: $(READY)  ## the part of that page about datasets that scikit-learn brings along
	$(BIN)/python -m benchmarks.bundled build/bundled
	FEDSIEVE_DATA=build $(BIN)/fedsieve benchmark benchmarks/quality/held_out.toml --jobs 2

sensitivity: $(READY)  ## one factor of SSFMLFS at a time on five datasets, then some crossed: says first how long; resumes
	$(BIN)/fedsieve benchmark benchmarks/paper/sensitivity.toml benchmarks/paper/sensitivity_crossed.toml --jobs 2

clean:
	rm -rf .venv .browser .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache demo-result build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What the demo needs, and then what developers need besides.
$(DEMO): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "FedSieve needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[report]'
	touch $@

$(READY): $(DEMO)
	$(INSTALL) '.[dev]'
	touch $@
