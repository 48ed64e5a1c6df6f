# The commands of every day; the build itself is CMake's (CMakeLists.txt, CMakePresets.json). Each
# target first installs the packages that it needs and that are missing.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 120
WHEEL_ROOTS ?= bookworm
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

packages = ./scripts/install_packages.sh
configure = cmake --preset
build = cmake --build --parallel $(JOBS) --preset
# Two more than cores: the tests of the program and of Python wait much of their time.
test = ctest --parallel $(shell expr $(JOBS) + 2) --preset
# The tests of parts that have loops over threads; the others would run there as with one.
threaded = threads|explicit|forces|spring_rows|spring_laws|linear|prefactor|packed|preconditioners|multigrid|implicit|minimizers|acceleration|live|run|loops
threaded_tests = $(shell cd tests && ls test_*.c | sed 's/\.c$$//' | grep -E '$(threaded)')
# Some kernels place memory where the sanitizers of older compilers cannot follow.
sanitized = $(shell setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: help demo pictures test web web-test bench cuda petsc petsc-test sweep contact-judge frameworks-test wheel install format format-check lint clang plain asan tsan fuzz clean
.DEFAULT_GOAL := help

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "make %-15s %s\n", $$1, $$2}'

demo: ## Build Hooke and simulate a waving flag into out/flag, with a report and a picture.
	@$(packages) demo
	$(configure) release
	$(build) release --target hooke_product
	./build/release/hooke run flag -o out/flag --force --report
	@./build/release/hooke render out/flag -o out/flag/flag.png --time 3 || \
	  echo "There is no picture: this machine cannot draw, as said above. All else is there."
	@echo "hooke is ./build/release/hooke until 'make install', or: export PATH=\$$PWD/build/release:\$$PATH"
	@echo "Open in a browser: file://$(CURDIR)/out/flag/report.html"

pictures: ## Draw the pictures of the README and of documents into docs/pictures.
	@$(packages) test
	$(configure) release
	$(build) release --target hooke_product hooke_python
	@./scripts/pictures.sh build/release/hooke docs/pictures

test: ## Build Hooke and run all tests.
	@$(packages) test
	$(configure) release
	$(build) release
	$(test) release

web: ## Build the page with its engine in WebAssembly into web/dist.
	@$(packages) web
	$(configure) wasm
	$(build) wasm
	cp build/wasm/play/hooke.wasm web/public/
	cd web && npm ci --no-audit --no-fund && npm run build

web-test: web ## Test the page in a browser, from a folder and from 'hooke view'.
	@$(packages) build
	$(configure) release
	$(build) release --target hooke_product same_motion
	cd web && npm test

bench: web ## Measure Hooke against its peers; BENCH=--quick takes a minute, BENCH="ROW ..." some rows.
	@$(packages) bench
	$(configure) bench
	$(build) bench
	@./scripts/bench.sh build/bench $(BENCH)

cuda: ## Build Hooke with the plug-in for NVIDIA GPUs in build/cuda; requires nvcc. See docs/gpu.md.
	@command -v nvcc >/dev/null || { echo "make cuda: nvcc is not on the PATH; it comes with the CUDA toolkit" >&2; exit 1; }
	@$(packages) build
	$(configure) cuda
	$(build) cuda --target hooke_product hooke_cuda hooke_bench_gpu hooke_bench_steps hooke_bench_worlds \
		hooke_bench_layout hooke_bench_sheet test_device test_device_batch test_device_implicit \
		test_device_integrators test_device_multigrid test_device_worlds test_sheet

petsc: ## Build Hooke with the plug-in for MPI and PETSc in build/release. See docs/cluster.md.
	@$(packages) petsc
	$(configure) petsc
	$(build) petsc --target hooke_product hooke_petsc

petsc-test: ## Build that, and run its tests on several ranks.
	@$(packages) petsc-test
	$(configure) petsc
	$(build) petsc
	ctest --preset petsc

sweep: ## Run the robustness sweep and write docs/robustness.csv, its picture and the tables of docs/robustness.md.
	@$(packages) test
	$(configure) release
	$(build) release
	@./scripts/robustness.sh build/release

contact-judge: ## Have the IPC Toolkit look for intersections in the scenes of contact_sweep; SCENES="knot towel" runs some, STARTS=10 from ten starts each.
	@$(packages) test
	$(configure) release
	$(build) release --target contact_sweep hooke_python
	@./scripts/contact_judge.sh build/release $(SCENES)

frameworks-test: ## Test the gradients of the Python package with PyTorch, JAX and SciPy, which pip installs; takes a minute or two.
	@$(packages) test
	$(configure) release
	$(build) release --target hooke_python
	@./scripts/frameworks.sh build/release

wheel: ## Build a manylinux wheel of the Python package into out/wheel, and use it in fresh systems (WHEEL_ROOTS).
	@$(packages) wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) ./scripts/wheel.sh out/wheel
	@./python/tests/clean_root_test.sh out/wheel/hooke-*.whl $(WHEEL_ROOTS) || [ $$? = 77 ]

install: ## Install header, libraries, program and, if built, the page under PREFIX (/usr/local); DESTDIR is respected.
	@$(packages) build
	$(configure) release
	$(build) release --target hooke_product
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

format: ## Format all C sources in place.
	@$(packages) all
	@./scripts/format.sh

format-check: ## Say which C sources are not formatted.
	@$(packages) all
	@./scripts/format.sh --check

lint: ## Look for likely mistakes with clang-tidy, cppcheck and mypy, and for words that the glossary excludes.
	@$(packages) all
	$(configure) debug
	@./scripts/lint.sh build/debug

clang: ## Build with clang and run all tests.
	@$(packages) all
	$(configure) clang
	$(build) clang
	$(test) clang

plain: ## Build without CHOLMOD and EGL, which are optional, and run all tests; PLAIN_TESTS="-E cli" leaves some out.
	@$(packages) test
	$(configure) plain
	$(build) plain
	$(test) plain $(PLAIN_TESTS)

asan: ## Run all tests under the address and undefined behavior sanitizers.
	@$(packages) all
	$(configure) asan
	$(build) asan
	$(sanitized) $(test) asan

tsan: ## Run the tests of what threads do together under the thread sanitizer.
	@$(packages) all
	$(configure) tsan
	$(build) tsan --target $(threaded_tests)
	$(sanitized) $(test) tsan -R '$(threaded)'

fuzz: ## Fuzz every parser for FUZZ_SECONDS (120) each.
	@$(packages) all
	@./scripts/fuzz.sh $(FUZZ_SECONDS)

clean: ## Remove what was built and the demo's result.
	rm -rf build out/flag
