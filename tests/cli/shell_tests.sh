# What shells complete, and the manual page.

# Loads the completion into a bash without start files; prints the answers to the line $1.
complete_line() {
  hooke completion bash >completion.bash
  bash --norc --noprofile -c '. ./completion.bash || exit 1
complete -p hooke >/dev/null || exit 1
COMP_LINE=$1 COMP_POINT=${#1}
_hooke 2>err
printf "%s\n" "${COMPREPLY[@]-}"' bash "$1"
}

# completes LINE WORD...: exactly these words, in any order.
completes() {
  local line=$1
  shift
  complete_line "$line" | sort >answers || fail "bash does not load the completion"
  printf '%s\n' "$@" | sort >wanted
  cmp -s answers wanted || fail "'$line' is completed by: $(tr '\n' ' ' <answers)"
  [ ! -s err ] || fail "$(cat err)"
}

test_bash_completes_commands_options_and_scenes() {
  completes 'hooke ru' run
  completes 'hooke run --res' --resume
  completes 'hooke run flag --chec' --checkpoint
  completes 'hooke run fl' flag
  completes 'hooke scenes curt' curtain
  completes 'hooke methods gravi' gravity
  completes 'hooke help ren' render
  completes 'hooke xyzzy' ''
}

test_bash_completes_values_of_options() {
  completes 'hooke run --device ' auto cpu cuda cuda_double petsc
  completes 'hooke run --device=cu' cuda cuda_double
  completes 'hooke run flag -s time.dur' time.duration=
  completes 'hooke run flag --set integrator=rk' rk4
  completes 'hooke run flag --set=integrator=rk' rk4
  completes 'hooke new my --from oscil' oscillator
  completes 'hooke run flag --threads ' ''
}

test_bash_completes_files() {
  mkdir 'my scenes' myself
  touch my.json 'my own.json'
  completes 'hooke run my' 'my scenes' myself my.json 'my own.json'
  completes 'hooke run flag -o my' 'my scenes' myself
  completes 'hooke convert my.j' my.json
}

test_bash_completes_every_option_of_every_command() {
  for command in $(commands); do
    hooke help "$command" | sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p' >options
    mapfile -t options <options
    completes "hooke $command --" "${options[@]}"
  done
}

test_zsh_and_fish_read_their_completions() {
  local shell some=
  for shell in zsh fish; do
    hooke completion "$shell" >"completion.$shell"
    for word in flag curtain gravity newton checkpoint run convert; do
      says "completion.$shell" "$word"
    done
    if command -v "$shell" >/dev/null; then
      HOME=$PWD "$shell" -n "completion.$shell"
      some=1
    fi
  done
  [ -n "$some" ] || skip 'there is neither zsh nor fish'
}

test_fish_completes_commands_options_and_scenes() {
  command -v fish >/dev/null || skip 'there is no fish'
  hooke completion fish >completion.fish
  mkdir home
  for pair in 'hooke ru:run' 'hooke run --res:--resume' 'hooke run fl:flag' \
    'hooke run --device cuda_:cuda_double' 'hooke run flag --set integrator=rk:integrator=rk4'; do
    HOME=$PWD/home fish -c 'source completion.fish; complete -C $argv[1]' "${pair%:*}" >answers
    [ "$(cut -f 1 answers)" = "${pair##*:}" ] || fail "'${pair%:*}' is completed by: $(cat answers)"
  done
}

test_unknown_shell_is_wrong_usage() {
  expect 2 hooke completion tcsh
  one_error "expected one of bash|zsh|fish, not 'tcsh'"
}

test_manual_has_every_command_option_and_scene() {
  expect 0 hooke manual
  mv out hooke.1
  for command in $(commands); do
    says hooke.1 "\"hooke $command"
    hooke help "$command" | sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' | grep -v '^help$' >options || true
    while read -r option; do says hooke.1 "\\fB\\-\\-$option\\fR"; done <options
  done
  for scene in $(hooke scenes --json | python3 -c 'import json, sys
print(*[s["name"] for s in json.load(sys.stdin)])'); do
    says hooke.1 ".B $scene"
  done
}

test_manual_is_the_same_at_the_same_date() {
  SOURCE_DATE_EPOCH=86400 hooke manual >hooke.1
  says hooke.1 '.TH HOOKE 1 "1970-01-02"'
}

test_manual_has_no_mistake() {
  local some=
  hooke manual >hooke.1
  if command -v mandoc >/dev/null; then
    mandoc -Tlint hooke.1 >words || fail "$(cat words)"
    silent words
    some=1
  fi
  if command -v man >/dev/null && man --warnings -l hooke.1 >page 2>words </dev/null; then
    silent words
    says page 'hooke - simulate mass-spring systems'
    some=1
  fi
  [ -n "$some" ] || skip 'there is neither mandoc nor man'
}
