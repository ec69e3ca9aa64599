# Two commands do all the set-up: `make demo` and `make test`. Both make .venv and fill it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# writes lock files
UV := uv==0.13.9
# bytecode is made of what is imported, when it is: of everything it takes longer than unpacking
PIP := $(BIN)/python -m pip install -qq --no-compile
# exactly what a lock file names; what has to be built is built by what was installed before
LOCKED := $(PIP) --no-deps --no-build-isolation --require-hashes -r
# compiled when gnomon is installed; where nothing else changed, what changed of them is compiled again
LOOPS := setup.py $(wildcard $(addprefix src/gnomon/native/*.,pyx pxd h))
BUILD = $(BIN)/python setup.py -q build_ext --inplace
# compiles with zig's compiler where there is no other
EDITABLE = { $(BIN)/python -c 'import setup, sys; sys.exit(not setup.compiler())' || \
	{ echo "No C compiler is here: installing zig's (100 MB)"; $(LOCKED) requirements/compiler.lock; }; } && \
	$(PIP) --no-deps --no-build-isolation -e .
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# compiled once, and not again by each of the many processes that tests start
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test build vendor lock outdated newest verify sanitize lint types docs pytest pythons bench pictures clean debian

demo:
	@test -e $(VENV)/.demo || echo "gnomon is installed into $(VENV) with what its example needs: about 850 MB on disk, 240 to \
	download, a minute and a half on two cores; without torch."
	@$(MAKE) --no-print-directory $(VENV)/.demo
	$(BIN)/gnomon demo --html gnomon-demo.html

# all at once: no core waits while packages are unpacked, or a test waits
test: debian
	$(MAKE) --no-print-directory -j 4 -k pythons pytest types docs lint

# bytecode is made once, beside types and docs, and not by each worker while the others make the same
pytest: $(VENV)/.test
	$(BIN)/pytest --collect-only -qq -m "not verify" > /dev/null || :
	$(BIN)/pytest -n auto --dist worksteal -m "not verify"

# a short suite under the newest Python that is here, beside the one that runs all other tests; all: make verify
pythons: $(VENV)/bin/python
	$(BIN)/python scripts/pythons.py

# what changed of the loops, and the list of methods and public names
build: $(VENV)/.test
	$(BIN)/python scripts/manifest.py

# tests of loops, under which each access to memory is checked
sanitize: $(VENV)/.test
	$(BIN)/python scripts/sanitized.py -m pytest -n auto --dist worksteal -m "not verify" tests/native

# all parts, or one: make verify PART=papers; what passed is kept, and an interrupted part goes on
verify: $(VENV)/.test
	$(BIN)/python scripts/verify.py $(PART)

lint: $(VENV)/.locked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

docs: $(VENV)/.locked
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/docs_offline.py docs/_build/html

bench: $(VENV)/.test
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/muler.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/readers.py
	$(BIN)/python benchmarks/metaeval.py
	$(BIN)/python benchmarks/embeddings.py
	$(BIN)/python benchmarks/difficulty.py
	$(BIN)/python benchmarks/stress.py
	$(BIN)/python benchmarks/bmx.py
	$(BIN)/python benchmarks/explanations.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/codes.py
	$(BIN)/python benchmarks/study.py growth
	$(BIN)/python benchmarks/study.py speed
	$(BIN)/python benchmarks/study_report.py
	$(BIN)/python benchmarks/comparisons.py
	$(BIN)/python benchmarks/align.py
	$(BIN)/python benchmarks/serve_load.py

# the exact versions of all packages, into requirements/: UPGRADE=--upgrade takes the newest
lock: $(VENV)/bin/python
	$(PIP) $(UV)
	$(BIN)/python scripts/lock.py $(UPGRADE)

# the scripts that draw the charts of pages, from npm: the versions of scripts/vendor/package-lock.json
vendor:
	$(PYTHON) scripts/vendor.py

# packages that the lock files hold back
outdated: $(VENV)/bin/python
	$(PIP) $(UV)
	$(BIN)/python scripts/lock.py --outdated

# the tests with the newest of everything, and the package that breaks them; leaves .venv with these
newest: $(VENV)/.test
	$(PIP) $(UV)
	rm -f $(VENV)/.demo $(VENV)/.locked $(VENV)/.test
	$(BIN)/python scripts/newest.py

# the pictures of README and docs, from what the code gives now
pictures: $(VENV)/.test
	$(BIN)/python scripts/pictures.py

debian:
	sh scripts/debian_packages.sh

clean:
	rm -rf $(VENV) .venv-oldest .venv-pythons build docs/_build gnomon-demo.html src/gnomon/native/*.so

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("gnomon needs Python 3.11 or later; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements/installer.lock

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml requirements/demo.lock $(LOOPS)
	$(if $(filter-out $(LOOPS),$?),$(LOCKED) requirements/demo.lock && $(EDITABLE),$(BUILD))
	touch $@

# all that tests need but torch, which pages of the documentation go without
$(VENV)/.locked: $(VENV)/.demo requirements/test.lock $(LOOPS)
	$(if $(filter-out $(LOOPS) $(VENV)/.demo,$?),$(LOCKED) requirements/test.lock)
	touch $@

$(VENV)/.test: $(VENV)/.locked requirements/torch.txt
	$(if $(filter %torch.txt,$?),$(BIN)/python scripts/torch_size.py && $(PIP) -r requirements/torch.txt)
	touch $@
