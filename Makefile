# make demo | test | lint: each sets up what it needs on a machine that has Python 3.11 and the package registries.
PYTHON ?= python3
REQUIREMENTS ?= requirements.lock
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint clean
.DELETE_ON_ERROR:

demo: $(READY)
	HF_HUB_OFFLINE=1 $(BIN)/python train.py

test: $(READY)
	@command -v chromium > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y chromium; } \
		> /dev/null 2>&1 || echo 'no Chromium here: the tests of the page are skipped'
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

$(READY): $(REQUIREMENTS) pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

clean:
	rm -rf .venv runs build *.egg-info
