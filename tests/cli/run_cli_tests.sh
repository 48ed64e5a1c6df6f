#!/bin/bash
# Tests of the program from outside: run_cli_tests.sh PROGRAM [PART OF A NAME [K/N]]; K/N: only the K-th of
# N groups of them, which may run at the same time.
#
# The files beside this one hold functions test_NAME, each named by the property that it checks. Each
# runs in a shell and a folder of its own, and fails with the first command that fails. What they
# share:
#
#     expect CODE COMMAND...   runs it, keeps its output in the files out and err, checks the exit code
#     says FILE TEXT           the file contains the text
#     silent FILE              the file is empty
#     one_error TEXT           err is a single line "hooke: ..." that contains the text
#     json EXPRESSION          a Python expression about j, the JSON in the file out, is true
#     skip WORDS               ends the test as skipped
#     wait_until COMMAND...    repeats it until it succeeds; fails where it does not within a minute
#     wait_sigint PID ACTION   waits until the program would handle SIGINT (handle), or be ended by it (end)
#     wait_for_work PID N      waits until the process has used N further hundredths of a second of CPU time
set -u
HOOKE=$(realpath "${1:?usage: run_cli_tests.sh PROGRAM [PART OF A NAME [K/N]]}")
WANTED=${2:-}
GROUP=${3:-1/1}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export HOOKE HERE
unset NO_COLOR COLUMNS

hooke() { "$HOOKE" "$@"; }

fail() {
  echo "$*"
  exit 1
}

skip() {
  echo "$*"
  exit 77
}

expect() {
  local wanted=$1 code=0
  shift
  "$@" >out 2>err </dev/null || code=$?
  [ "$code" = "$wanted" ] || fail "$* ended with $code, not $wanted: $(head -c 2000 out err)"
}

says() {
  grep -qF -e "$2" "$1" || fail "$1 does not say '$2' but: $(head -c 2000 "$1")"
}

silent() {
  [ ! -s "$1" ] || fail "$1 is not empty: $(head -c 2000 "$1")"
}

one_error() {
  [ "$(grep -c '' err)" = 1 ] || fail "not one line of error: $(head -c 2000 err)"
  grep -q '^hooke: ' err || fail "the error does not begin with 'hooke: ': $(cat err)"
  says err "$1"
}

json() {
  python3 -c 'import json, sys
j = json.load(open("out"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" || fail "not true: $1, of $(head -c 2000 out)"
}

wait_until() {
  local end=$((SECONDS + 60))
  until "$@" 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || fail "not within a minute: $*: $(head -c 2000 out err)"
    sleep 0.01
  done
}

# Prints what the program, once the shell has started it as the process $1, does at SIGINT: handle, ignore
# (as the shell has it for background processes) or end.
sigint_action() {
  [ "/proc/$1/exe" -ef "$HOOKE" ] || return
  awk '$1 == "SigCgt:" && $2 ~ /[2367abef]$/ {action = "handle"}
       $1 == "SigIgn:" && $2 ~ /[2367abef]$/ {action = "ignore"}
       END {print action ? action : "end"}' "/proc/$1/status"
}

at_sigint() { [ "$(sigint_action "$1")" = "$2" ]; }

# Waits until the process $1 would handle SIGINT, or end.
wait_sigint() {
  [ -r /proc/self/status ] || skip 'there is no /proc'
  wait_until at_sigint "$1" "$2"
}

# CPU time of a process so far, in hundredths of a second: it does not grow while others have the cores.
cpu_time() {
  local fields
  read -ra fields <<<"$(sed 's/.*) //' "/proc/$1/stat")" # from the third one, after the name
  echo $(((fields[11] + fields[12]) * 100 / $(getconf CLK_TCK)))
}

has_worked() { [ "$(cpu_time "$1")" -ge "$2" ]; }

wait_for_work() {
  [ -r /proc/self/stat ] || skip 'there is no /proc'
  wait_until has_worked "$1" $(($(cpu_time "$1") + $2))
}

same() {
  diff -r -x checkpoint.previous "$1" "$2" >difference 2>&1 || fail "$1 and $2 differ: $(head -5 difference)"
}

# A sanitizer changes what memory and time a program takes.
sanitized() { grep -qc __asan_init "$HOOKE" || grep -qc __tsan_init "$HOOKE"; }

# Writes a scene: a hanging chain of N masses that moves for SECONDS, with all outputs there are.
scene() {
  local file=$1 n=${2:-5} seconds=${3:-0.5} outputs
  outputs=$(hooke methods --json | python3 -c 'import json, sys
print(json.dumps([m["name"] for m in json.load(sys.stdin) if m["family"] == "output"]))')
  cat >"$file" <<END
{
  "title": "A \"test\" scene",
  "time": {"duration": $seconds, "step": 1e-4, "frames_per_second": 100},
  "bodies": [{"shape": {"type": "chain", "n": $n}, "springs": {"k": 5000}, "mass": 1}],
  "pins": [{"select": "start"}],
  "forces": ["gravity"],
  "probes": [{"name": "tip", "select": "end"}],
  "outputs": $outputs
}
END
}

# ---- Running them -------------------------------------------------------------------------------

passed=0 failed=0 skipped=0 number=0
for file in "$HERE"/*_tests.sh; do
  [ "$file" = "$HERE/run_cli_tests.sh" ] || . "$file"
done
for test in $(declare -F | awk '$3 ~ /^test_/ {print $3}'); do
  name=${test#test_}
  [[ $name == *"$WANTED"* ]] || continue
  number=$((number + 1))
  [ $((number % ${GROUP#*/})) = $((${GROUP%/*} % ${GROUP#*/})) ] || continue
  mkdir "$WORK/$name"
  (
    cd "$WORK/$name" || exit 1
    set -eu -o pipefail
    "$test"
  ) >"$WORK/log" 2>&1
  case $? in
  0)
    echo "ok $name"
    passed=$((passed + 1))
    ;;
  77)
    echo "skipped $name: $(tail -1 "$WORK/log")"
    skipped=$((skipped + 1))
    ;;
  *)
    echo "FAILED $name"
    sed 's/^/    /' "$WORK/log"
    failed=$((failed + 1))
    ;;
  esac
  rm -rf "${WORK:?}/$name"
done
[ "$skipped" = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
