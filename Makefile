# The front door. Everything real is in CMake presets and in tools/; see CONTRIBUTING.md.
.PHONY: help bench bench-full test test-whole quick-test check-format format lint models docs clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

# What a share of the tests leaves in the cache of build/release.
as_first = -UFILCH_CLUSTER -UFILCH_RACES

bench:  ## build and run the quick benchmark, two minutes once built
	@tools/install-packages bench
	@cmake --preset release $(as_first) -DFILCH_BUILD_TESTS=OFF -DFILCH_BUILD_EXAMPLES=OFF >build-bench.log 2>&1 \
	  || { cat build-bench.log; exit 1; }
	@echo "building filch-bench (release preset)"
	@cmake --build --preset release --target filch-bench >>build-bench.log 2>&1 || { cat build-bench.log; exit 1; }
	@rm -f build-bench.log
	@build/release/bench/filch-bench --quick --json build/bench.json $(ARGS)
	@echo 'All figures: build/bench.json. Bar charts: make bench ARGS="--html FILE". The long table: make bench ARGS=--long'

bench-full: bench  ## every workload at its first size, all schedulers and peers (an hour)
	@cmake --build --preset release --target bench-all
	@build/release/bench/filch-bench --workload all --scheduler all --workers 1,2 --long

# One day for both, also around midnight.
test: export FILCH_TEST_DAY := $(or $(FILCH_TEST_DAY),$(shell expr $$(date +%s) / 86400))
test:  ## what CI checks: today's share of all builds, sanitizers, models (tests/README.md)
	@tools/install-packages test
	@tools/test-all

test-whole:  ## all of it, each build for every scheduler
	@tools/install-packages test whole
	@tools/test-all whole

quick-test:  ## the typed suite of today's schedulers, and the checks of words, walls and edges
	@tools/test-all quick

check-format:  ## is the code formatted?
	@tools/check-format

format:  ## format the code
	@tools/check-format --fix

lint:  ## clang-tidy over the library
	@tools/lint

models:  ## check the protocol models (needs spin)
	@models/check

docs:  ## reference pages into build/docs (needs doxygen)
	@tools/docs

clean:
	rm -rf build
