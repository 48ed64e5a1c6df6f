#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that Hooke needs and that are missing.
#
#   scripts/install_packages.sh [GROUP]
#
#   build   compile, run and install Hooke
#   demo    build, and what draws without a graphics card
#   test    build, and what the tests use
#   bench   build, and what the benchmark's peers use
#   petsc   build, and MPI with PETSc for the plug-in libhooke_petsc
#   petsc-test  petsc and test, and what the tests of the plug-in use
#   wheel   build, and what the wheel of the Python package is built and tried with
#   web     what the page is made of: WebAssembly, Node.js, and a browser for its tests
#   all     test, and what the checks use: sanitizers, fuzzing, formatting, linting (the default)
#
# Where there is no apt-get it says what is needed; exit status 1 if Hooke cannot be built with what
# is there.
set -euo pipefail
export LC_ALL=C # the words of apt-cache are read below

# Packages a line; names with | between them are one package under its different names.
build_packages=(gcc libc6-dev cmake ninja-build "pkgconf|pkg-config" libsuitesparse-dev
  libwebsockets-dev libegl-dev libgles-dev libpng-dev)
drawing_packages=(libegl-mesa0 libgl1-mesa-dri)
test_packages=(g++ python3 python3-dev python3-venv python3-pytest python3-matplotlib python3-meshio
  python3-jsonschema python3-numpy ffmpeg mandoc "${drawing_packages[@]}")
check_packages=(clang llvm "clang-format-14|clang-format" clang-tidy cppcheck "mypy|python3-mypy")
web_packages=(clang llvm lld wasi-libc chromium)
wheel_packages=(python3 python3-dev python3-venv mmdebstrap)
petsc_packages=(libpetsc-real-dev libopenmpi-dev openmpi-bin)
petsc_test_packages=(python3-mpi4py iproute2)
bench_packages=(g++ libeigen3-dev libopenblas-dev)
build_commands=(cc cmake ninja)
test_commands=(c++ pkg-config python3)
check_commands=(clang clang-format clang-tidy cppcheck)

group=${1:-all}
case $group in
  build) packages=("${build_packages[@]}") commands=() ;;
  demo) packages=("${build_packages[@]}" "${drawing_packages[@]}") commands=() ;;
  test) packages=("${build_packages[@]}" "${test_packages[@]}") commands=("${test_commands[@]}") ;;
  wheel) packages=("${build_packages[@]}" "${wheel_packages[@]}") commands=(python3) ;;
  petsc) packages=("${build_packages[@]}" "${petsc_packages[@]}") commands=(mpicc mpirun) ;;
  petsc-test)
    packages=("${build_packages[@]}" "${test_packages[@]}" "${petsc_packages[@]}"
      "${petsc_test_packages[@]}")
    commands=("${test_commands[@]}" mpicc mpirun)
    ;;
  bench) packages=("${build_packages[@]}" "${bench_packages[@]}") commands=(c++) ;;
  web)
    packages=("${web_packages[@]}")
    commands=(clang wasm-ld node npm)
    # Node.js comes from elsewhere on many machines, and then with npm.
    for command in node npm; do
      if ! command -v "$command" >/dev/null; then packages+=("${command/%node/nodejs}"); fi
    done
    ;;
  all)
    packages=("${build_packages[@]}" "${test_packages[@]}" "${check_packages[@]}")
    commands=("${test_commands[@]}" "${check_commands[@]}")
    ;;
  *)
    echo "install_packages.sh: '$group' is no group; give build, demo, test, petsc, petsc-test, bench, wheel, web or all" >&2
    exit 1
    ;;
esac

# ---- Systems without apt-get ------------------------------------------------------------------------

# Prints the commands of the list that are not there.
absent() {
  local command
  for command in "$@"; do command -v "$command" >/dev/null || printf '%s ' "$command"; done
}

check_other_system() {
  local needed wanted
  needed=$(absent "${build_commands[@]}")
  if [ -n "$needed" ]; then
    echo "Hooke cannot be built here; missing: $needed"
    echo "There is no apt-get on this system. Install by its own means: a C17 compiler, CMake 3.22"
    echo "and Ninja; SuiteSparse, too, for its CHOLMOD, without which implicit integrators are slower;"
    echo "with pkg-config EGL, OpenGL ES 3 and libpng for 'hooke render', libwebsockets for 'hooke view'."
    echo "Their names on Debian: ${packages[*]%%|*}"
    exit 1
  fi >&2
  wanted=$(absent "${commands[@]}")
  if [ -n "$wanted" ]; then echo "Not on this system, and some targets need it: $wanted"; fi
}

# ---- Debian and Ubuntu ------------------------------------------------------------------------------

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed* ]]
}

# No pipe into grep -q: it ends before apt-cache does, and pipefail takes that for a failure.
can_install() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

# The number N of clang-N, which the package clang stands for on this system.
clang_version() {
  local depends
  depends=$(dpkg-query -W -f='${Depends}' clang 2>/dev/null || apt-cache depends clang 2>/dev/null) ||
    true
  if [[ $depends =~ clang-([0-9]+) ]]; then echo "${BASH_REMATCH[1]}"; fi
}

# libFuzzer with the sanitizers, of the very version of clang.
clang_packages() {
  local version
  version=$(clang_version)
  echo "libclang-rt-dev|libclang-rt-$version-dev"
}

# Prints, for each entry of the list that is not installed, the package to install: the first of its
# names that this system knows. Some older releases have no libclang-rt: it is in clang itself.
find_missing() {
  local entry name names
  for entry in "$@"; do
    IFS='|' read -ra names <<<"$entry"
    for name in "${names[@]}"; do
      if is_installed "$name"; then continue 2; fi
    done
    for name in "${names[@]}"; do
      if can_install "$name"; then
        echo "$name"
        continue 2
      fi
    done
    if [[ $entry != libclang-rt* ]]; then echo "${names[0]}"; fi
  done
}

list_missing() {
  find_missing "${packages[@]}"
  local entries
  if [ "$group" = all ]; then
    mapfile -t entries < <(clang_packages)
    find_missing "${entries[@]}"
  elif [ "$group" = web ]; then
    find_missing "libclang-rt-dev-wasm32|libclang-rt-$(clang_version)-dev-wasm32"
  fi
}

# As root: root needs no sudo, and may not have it.
apt_get() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

if ! command -v apt-get >/dev/null; then
  check_other_system
  exit 0
fi
missing=$(list_missing)
if [ -z "$missing" ]; then
  echo "All packages that Hooke needs ($group) are installed."
  exit 0
fi
echo "Hooke needs packages ($group) that are not installed:" $missing
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
  echo "There is no sudo. As root: apt-get update && apt-get install" $missing >&2
  exit 1
fi
apt_get update
missing=$(list_missing) # again, now that every name is known
if [ -z "$missing" ]; then exit 0; fi
echo "Installing:" $missing
apt_get install --no-install-recommends $missing
