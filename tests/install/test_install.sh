#!/usr/bin/env bash
# Installs the build tree BUILD into a folder of its own, moves it, and uses it from outside: with
# pkg-config, with find_package, from C++. Looks into both libraries too.
#
# From the environment: CMAKE CC CXX NM OBJDUMP (programs), BUILD SOURCE (folders), LIBDIR (lib), PAGE
# (where the page is installed without DESTDIR and --prefix).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix="$folder/moved prefix" # with a space, so that nothing relies on there being none
strict=(-Wall -Wextra -Wpedantic -Werror)

section() { echo "-- $*"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# run NAME: runs a program with the installed shared library, whatever its run path.
run() {
  LD_LIBRARY_PATH="$prefix/$LIBDIR" "$folder/$1" || fail "$1 does not run"
}
version=$(sed -n 's/^#define HK_VERSION "\(.*\)"/\1/p' "$SOURCE/include/hooke/base.h")
soversion=${version%.*} # the interface may change with each minor version
needs_shared() { [[ $("$OBJDUMP" -p "$folder/$1") =~ NEEDED\ +libhooke\.so\.${soversion/./\\.} ]]; }

section "install, and move the tree elsewhere"
DESTDIR="$folder/stage" "$CMAKE" --install "$BUILD" --prefix /opt/hooke >"$folder/log" ||
  fail "cmake --install: $(cat "$folder/log")"
mv "$folder/stage/opt/hooke" "$prefix"
for file in include/hooke/hooke.h "$LIBDIR/libhooke.a" "$LIBDIR/libhooke.so" \
  "$LIBDIR/libhooke.so.$soversion" "$LIBDIR/pkgconfig/hooke.pc" "$LIBDIR/cmake/hooke/hookeConfig.cmake" \
  share/doc/hooke/LICENSE; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
if grep -rlF -e "$BUILD" -e "$SOURCE" -e /opt/hooke "$prefix/$LIBDIR/cmake" \
  "$prefix/$LIBDIR/pkgconfig"; then
  fail "these files name a folder of the build or the prefix"
fi
if [ -x "$BUILD/hooke" ]; then
  "$prefix/bin/hooke" --version >/dev/null || fail "bin/hooke does not run"
  [ "$("$prefix/bin/hooke" schema)" = "$(cat "$prefix/share/hooke/scene.schema.json")" ] ||
    fail "share/hooke/scene.schema.json is not what 'hooke schema' says"
  for pair in "manual:man/man1/hooke.1" "completion bash:bash-completion/completions/hooke" \
    "completion zsh:zsh/site-functions/_hooke" "completion fish:fish/vendor_completions.d/hooke.fish"; do
    # The manual page has a date, which may be that of yesterday.
    # shellcheck disable=SC2086
    diff <("$prefix/bin/hooke" ${pair%%:*} | grep -v '^\.TH') \
      <(grep -v '^\.TH' "$prefix/share/${pair#*:}") ||
      fail "share/${pair#*:} is not what 'hooke ${pair%%:*}' says"
  done
  for scene in "$SOURCE"/scenes/*.json; do
    cmp "$scene" "$prefix/share/hooke/scenes/$(basename "$scene")" || fail "a scene is missing"
  done
fi

# 'hooke view' of the moved tree serves the page beside it. A small one stands for it where 'make web'
# has not been called.
check_view() {
  local page="$prefix/share/hooke/web" address
  if [ -e "$SOURCE/web/dist/index.html" ]; then
    diff -r "$SOURCE/web/dist" "$page" || fail "share/hooke/web is not web/dist"
  elif [ -e "$page" ]; then
    fail "share/hooke/web is installed, but not built"
  fi
  if [ ! -e "$PAGE/index.html" ]; then
    mv "$page" "$folder/kept" 2>/dev/null || true
    if "$prefix/bin/hooke" view >"$folder/log" 2>&1; then fail "hooke view starts without a page"; fi
    grep -q "the page is not there, neither beside the program nor in $PAGE; 'make web' builds it" \
      "$folder/log" || fail "hooke view without a page says: $(cat "$folder/log")"
    mv "$folder/kept" "$page" 2>/dev/null || true
  fi
  mkdir -p "$page"
  [ -e "$page/index.html" ] || echo "<title>Hooke</title>" >"$page/index.html"
  "$prefix/bin/hooke" view >"$folder/log" 2>&1 &
  view=$!
  for _ in $(seq 100); do
    if grep -q '^open ' "$folder/log"; then break; fi
    sleep 0.1
  done
  address=$(sed -n 's/^open \(.*\)?token=.*/\1/p' "$folder/log")
  printf 'file(DOWNLOAD "%sindex.html" "%s")' "$address" "$folder/index.html" >"$folder/get.cmake"
  "$CMAKE" -P "$folder/get.cmake" || true
  kill -INT $view
  local code=0
  wait $view || code=$?
  [ "$code" = 130 ] || fail "hooke view ends with $code, not 130: $(cat "$folder/log")"
  cmp "$page/index.html" "$folder/index.html" || fail "hooke view does not serve the page"
}

section "hooke view finds the page"
if [ ! -x "$BUILD/hooke" ]; then
  echo "skipped: there is no program"
elif "$prefix/bin/hooke" view --page /nonexistent 2>&1 | grep -q libwebsockets; then
  echo "skipped: built without libwebsockets"
else
  check_view
fi

# pkg-config quotes for the shell, hence the eval.
check_pkg_config() {
  export PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig"
  [ "$(pkg-config --modversion hooke)" = "$version" ] || fail "hooke.pc is not of version $version"
  eval "$CC -std=c17 ${strict[*]} \"$here/outside.c\" -o \"$folder/pc_shared\" \
    $(pkg-config --cflags --libs hooke)"
  run pc_shared
  needs_shared pc_shared || fail "pc_shared is not linked with libhooke.so.$soversion"

  section "pkg-config, static"
  local libs
  libs=$(pkg-config --static --libs hooke)
  eval "$CC -std=c17 ${strict[*]} \"$here/outside.c\" -o \"$folder/pc_static\" \
    $(pkg-config --cflags hooke) ${libs/-lhooke/-l:libhooke.a}"
  run pc_static
  if needs_shared pc_static; then fail "pc_static is linked with libhooke.so.$soversion"; fi
}

section "pkg-config, shared"
if command -v pkg-config >/dev/null; then
  check_pkg_config
else
  echo "skipped: there is no pkg-config"
fi

section "C++"
if [ -n "$CXX" ] && [ "${CXX%-NOTFOUND}" = "$CXX" ]; then
  cp "$here/outside.c" "$folder/outside.cpp"
  "$CXX" -std=c++11 "${strict[@]}" "$folder/outside.cpp" -o "$folder/cxx" -I "$prefix/include" \
    -L "$prefix/$LIBDIR" -lhooke
  run cxx
else
  echo "skipped: there is no C++ compiler"
fi

section "a library of forces from the headers alone"
magnet="$folder/magnet"
mkdir "$magnet"
cp "$prefix/share/doc/hooke/examples/force_library/magnet.json" "$magnet"
"$CC" -std=c17 "${strict[@]}" -shared -fPIC -I "$prefix/include" \
  "$prefix/share/doc/hooke/examples/force_library/magnet.c" -o "$magnet/magnet.so" -lm
if [ -x "$BUILD/hooke" ]; then
  "$prefix/bin/hooke" run "$magnet/magnet.json" --libraries -q -o "$magnet/out" \
    --set time.duration=0.1 || fail "bin/hooke does not run with a library of forces"
fi

# cmake_project NAME ARGUMENT...: configures and builds an outside CMake project.
cmake_project() {
  local name=$1
  shift
  "$CMAKE" -S "$here/$name" -B "$folder/$name" -DCMAKE_C_COMPILER="$CC" "$@" >"$folder/log" 2>&1 ||
    fail "configuring $name: $(cat "$folder/log")"
  "$CMAKE" --build "$folder/$name" --parallel >"$folder/log" 2>&1 ||
    fail "building $name: $(cat "$folder/log")"
}

section "find_package"
cmake_project package -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION="${version%.*}"
run package/with_shared
run package/with_static
needs_shared package/with_shared || fail "hooke::hooke is not the shared library"
if needs_shared package/with_static; then fail "hooke::hooke_static is not the static library"; fi

section "add_subdirectory"
cmake_project subproject -DHOOKE_SOURCE="$SOURCE" -DCMAKE_C_FLAGS=-O0 \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
run subproject/with_subproject
if grep -q -e -Werror "$folder/subproject/compile_commands.json"; then
  fail "warnings are errors in a project that takes Hooke in"
fi

section "exported symbols"
"$NM" -D --defined-only "$prefix/$LIBDIR/libhooke.so" | awk '{print $3}' | sort >"$folder/exported"
[ -s "$folder/exported" ] || fail "libhooke.so exports nothing"
# The functions of the header: the word before the first bracket of each HK_API declaration.
sed -n 's/^HK_API [^(]*\b\(hk_[a-z0-9_]*\)(.*/\1/p' "$prefix"/include/hooke/*.h |
  sort >"$folder/declared"
differing=$(comm -3 "$folder/exported" "$folder/declared")
[ -z "$differing" ] ||
  fail "the headers declare what libhooke.so does not export, or the other way round:" $differing

# Const tables of pointers stand in .data.rel.ro: read-only once the program runs. The
# exceptions are the thread pool with each caller's backoff (base/pool.c) and the locks around CHOLMOD; no result depends on them.
section "no global state"
writable=$("$OBJDUMP" -t "$prefix/$LIBDIR/libhooke.a" |
  awk '/file format/ {object = $1}
    / \*COM\*\t| (\.data|\.bss|\.tdata|\.tbss)/ && !/ \.data\.rel\.ro/ && $(NF - 1) !~ /^0+$/ {
      if ($NF !~ /^(pool|is_inside|serial_until|last_slot|serial_regions|metis_mutex)(\.|$)/) print object, $NF}')
[ -z "$writable" ] || fail "libhooke.a has writable data (object, symbol): $writable"

echo "installed tree is good"
