# Needs Python 3.11 or later, a C compiler and make.  Each target makes the environment that it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-all lint docs bench fuzz attack promises coverage images strict-c clean

help:
	@echo "make demo    the examples: a U-Net, OpenVINO models and a photograph"
	@echo "make test    the tests to run while working: no slow ones, samples of long lists of cases, few random examples"
	@echo "make test-all  all tests, with every case and example"
	@echo "make lint    ruff and mypy"
	@echo "make docs    the site, in site/"
	@echo "make dist    sdist and wheel, in dist/; each is installed in a clean environment and used"
	@echo "make bench   kernels beside memcpy, NumPy and the peers: installing these takes 4 minutes, the rows 15;"
	@echo "             RESUME=1 to go on where a run ended, HPTT=dir for a checkout of HPTT"
	@echo "make fuzz    a long run of random chains and claims; N=n for how many cases and claims, JOBS=n for processes,"
	@echo "             SUMMARY=f.json to go on from the counts of an earlier run (f.json.cases has those of the chains)"
	@echo "             then the installed frameworks are asked, CASES=n times each; and FILES=n damaged model files of each"
	@echo "             kind are read, verified and optimised, from SEED=n on: findings go to fuzz-output/"
	@echo "make attack  claims about models without end, true and false ones, each verdict judged by onnxruntime; SECONDS=n for how"
	@echo "             long (600), SEED=n for the first case, JOBS=n for processes; wrong answers go to attack-output/"
	@echo "make freeze  the verdict, certificate and work of every claim, random pair and model of the tests, in OUT=f.jsonl"
	@echo "             (freeze.jsonl), JOBS=n for processes; with OLD=f.jsonl what changed since then: 1 if a verdict is worse"
	@echo "make promises  the attacks on what docs/guarantees.md promises, at length; and every combination of choices where"
	@echo "             make test-all takes each pair of them"
	@echo "make coverage  lines and branches of the algebra, the backend and the cache that the tests run; at least 95 %"
	@echo "make images  draw the pictures of the documentation again"
	@echo "make strict-c   every generated file by gcc and clang, at -O2 and -O3, and once by each gcc-N and clang-N that is"
	@echo "             installed, all warnings errors"
	@echo "make aarch64    generated files and kernels of random chains, by an AArch64 compiler, run under an emulator"
	@echo "make clean   remove what these targets made"

demo: $(VENV)/demo.stamp
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# Workers, and processes that tests start, read modules that another process compiled.
unexport PYTHONDONTWRITEBYTECODE

# The tests of one file run in one process, so that they share what the file makes once.
PARALLEL := -n auto --maxprocesses 8 --dist loadfile

# gcc takes half the time at -O1.
OPTIMISE := -O1
test: $(VENV)/test.stamp
	CFLAGS="$(CFLAGS) $(OPTIMISE)" $(BIN)/python -m pytest -q $(PARALLEL) -m "not slow" --hypothesis-profile=quick

# AFTER=test leaves out what make test OPTIMISE= has run in the same way.
test-all: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q $(PARALLEL) $(if $(AFTER),--after-quick)

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The variable silences an announcement of the theme about its successor.
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: dist
dist: $(VENV)/dist.stamp
	$(BIN)/python -m tests.dist

# What takes minutes says so before it starts.
.PHONY: about-bench
about-bench:
	@test -e $(VENV)/bench.stamp || echo "Installing the peers (torch, TensorFlow and others, about 6 GB): about 4 minutes"

bench: about-bench $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks $(if $(HPTT),--hptt $(HPTT)) $(if $(RESUME),--resume)

fuzz: $(VENV)/fuzz.stamp
	$(BIN)/python -m tests.fuzz $(or $(N),100000) --jobs $(or $(JOBS),1) $(if $(SUMMARY),--summary $(SUMMARY).cases)
	$(BIN)/python -m tests.fuzz_prove --pairs $(or $(N),100000) --jobs $(or $(JOBS),1) $(if $(SUMMARY),--summary $(SUMMARY))
	$(BIN)/python -m tests.fuzz_peers --cases $(or $(CASES),2000)
	$(BIN)/python -m tests.promises.hostile $(or $(FILES),4000) --seed $(or $(SEED),0) --out fuzz-output \
	    --only onnx-models one-node-models openvino-models

attack: $(VENV)/fuzz.stamp
	$(BIN)/python -m tests.attack --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0) --jobs $(or $(JOBS),1) \
	    --out attack-output --counts attack-output/counts.json

.PHONY: freeze
freeze: $(VENV)/fuzz.stamp
	$(BIN)/python -m tests.freeze --out $(or $(OUT),freeze.jsonl) --jobs $(or $(JOBS),1) $(if $(OLD),--compare $(OLD))

promises: $(VENV)/test.stamp
	$(BIN)/python -m tests.promises.cache
	$(BIN)/python -m tests.promises.compiler
	$(BIN)/python -m tests.promises.sanitize
	$(BIN)/python -m tests.promises.guard
	$(BIN)/python -m tests.promises.analyze --catalogue
	$(BIN)/python -m tests.promises.hostile
	$(BIN)/python -m tests.promises.forge
	$(BIN)/python -m tests.promises.arrays
	$(BIN)/python -m tests.promises.concurrent
	$(BIN)/python -m tests.promises.integers --chains 300 --sparse
	$(BIN)/python -m tests.promises.deterministic
	$(BIN)/python -m tests.promises.gcov
	$(BIN)/python -m tests.promises.gcov --march x86-64-v3
	$(BIN)/python -m tests.promises.gcov --portable
	$(BIN)/python -m tests.mutation.mutate
	$(BIN)/python -m pytest -q $(PARALLEL) -m exhaustive --exhaustive

# Processes that tests start are counted too.  What takes the time of the processor for a measure may fail while counted.
coverage: $(VENV)/coverage.stamp
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest -q --ignore=tests/project/test_benchmarks.py --ignore=tests/project/test_consumer.py
	$(BIN)/coverage combine --quiet
	$(BIN)/python -m tests.promises.coverage

images: $(VENV)/test.stamp
	$(BIN)/symlayout show "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" --dims N=1,H=4,W=4,C=1 --at 0,1,1,0 \
	    --svg docs/images/space_to_batch.svg
	$(BIN)/symlayout show "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" "transpose(0,2,3,1)" --dims N=1,C=1,h=2,w=3 \
	    --at 0,1,1,2 --svg docs/images/space_to_depth.svg
	$(BIN)/symlayout show tests/models/exported/swin_dynamic.onnx --svg docs/images/swin.svg
	$(BIN)/symlayout optimize examples/models/unet.onnx -o $(VENV)/unet.onnx --svg docs/images/unet.svg
	$(BIN)/symlayout optimize tests/models/exported/space_to_depth_stem_dynamic.onnx -o $(VENV)/stem.onnx \
	    --svg docs/images/space_to_depth_stem.svg
	$(BIN)/python -m tests.support.draw_rooms
	$(BIN)/python -m tests.support.certificates.draw_proof
	$(BIN)/python -m tests.layouts.pages.access_page
	$(BIN)/python -m tests.reports.draw_page  # where Chromium and chromedriver are installed

strict-c: $(VENV)/test.stamp
	$(BIN)/python -m tests.compile_generated

# Debian: apt install gcc-aarch64-linux-gnu qemu-user
.PHONY: aarch64
aarch64: $(VENV)/test.stamp
	$(BIN)/python -m tests.aarch64

# One stamp per set of extras: an environment is made again only when pyproject.toml asks for something else.
$(VENV)/%.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build dist site demo-output attack-output fuzz-output *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
