# The command line itself: commands, options, help.

test_version_is_that_of_the_library() {
  expect 0 hooke --version
  grep -qE '^hooke [0-9]+\.[0-9]+\.[0-9]+$' out
  silent err
}

test_help_lists_commands_and_exit_codes() {
  expect 0 hooke --help
  for word in run view render info matrices compare bench methods scenes new convert schema help \
    'Exit codes' 130 143; do
    says out "$word"
  done
  cp out overview
  expect 0 hooke help
  cmp out overview
  expect 0 hooke -h
  cmp out overview
}

# Names of all commands, as the overview lists them.
commands() { hooke help | sed -n '/^Commands$/,/^$/s/^  hooke \([a-z]*\).*/\1/p'; }

# The file out has no line that is wider than so many columns.
fits() {
  awk -v most="$1" 'length($0) > most {print length($0) ": " $0; bad = 1} END {exit bad}' out ||
    fail "wider than $1 columns"
}

test_every_command_has_help_with_examples() {
  [ "$(commands | wc -l)" -ge 13 ] || fail "commands: $(commands)"
  for command in $(commands); do
    expect 0 hooke "$command" --help
    says out Examples
    says out "  hooke $command"
    cp out first
    expect 0 hooke help "$command"
    cmp out first
  done
}

test_help_fits_80_columns_where_the_width_is_unknown() {
  expect 0 hooke help
  fits 80
  for command in $(commands); do
    expect 0 hooke help "$command"
    fits 80
  done
  expect 0 hooke methods
  fits 80
  expect 0 hooke scenes
  fits 80
  for name in pcg springs local_global oscillation time; do
    expect 0 hooke methods "$name"
    fits 80
  done
}

test_help_fits_the_terminal() {
  for columns in 70 120; do
    for command in run render compare; do
      python3 "$HERE/on_terminal.py" "$columns" "$HOOKE" help "$command" | sed '/^Examples$/,$d' >out
      fits "$columns"
    done
  done
  # The wide terminal is used, not only tolerated.
  awk 'length($0) > 100 {wide = 1} END {exit !wide}' out || fail "no wide line: $(cat out)"
}

test_help_leaves_two_blanks_behind_every_option() {
  local option='^  (-[a-zA-Z], |    )--[a-z-]+( [^ ]+)?'
  for command in $(commands); do
    expect 0 hooke help "$command"
    sed -n '/^Options$/,/^$/p' out | grep -E '^ {2,6}-' >options
    [ -s options ] || fail "hooke help $command lists no options"
    ! grep -vE "$option(  +[^ ].*)?\$" options || fail "hooke help $command"
    # Every option has its text, beside it or below.
    [ "$(grep -cE "$option\$" options)" -le "$(sed -n '/^Options$/,/^$/p' out | grep -cE '^ {31}[^ ]')" ]
  done
}

test_no_command_is_wrong_usage() {
  expect 2 hooke
  silent out
  says err 'Commands'
}

test_unknown_command_gets_a_suggestion() {
  expect 2 hooke rnu
  one_error "did you mean 'run'?"
  expect 2 hooke help metods
  one_error "did you mean 'methods'?"
  expect 2 hooke xyzzyx
  one_error "'hooke help' lists them"
}

test_unknown_scene_gets_the_same_answer_from_every_command() {
  expect 3 hooke run flga
  one_error "did you mean 'flag'?"
  mv err wanted
  for command in view 'render -o a.png' info matrices compare bench; do
    code=0
    # shellcheck disable=SC2086
    hooke $command flga >out 2>err || code=$?
    if grep -q 'built without' err; then continue; fi
    [ "$code" = 3 ] || fail "hooke $command ended with $code: $(cat err)"
    cmp err wanted || fail "hooke $command says: $(cat err)"
  done
}

test_unknown_option_gets_a_suggestion() {
  expect 2 hooke run flag --forse
  one_error "unknown option '--forse'; did you mean '--force'?"
  expect 2 hooke run flag --thread=2
  one_error "did you mean '--threads'?"
  expect 2 hooke run flag -x
  one_error "unknown option '-x'"
  expect 2 hooke run flag -qx
  one_error "unknown option '-qx'"
}

test_option_values_are_checked() {
  expect 2 hooke run flag --threads two
  one_error "expected a whole number from 0 to 4096, not 'two'"
  expect 2 hooke run flag --threads 1.5
  one_error "not '1.5'"
  expect 2 hooke run flag --threads -1
  one_error "not '-1'"
  expect 2 hooke run flag --checkpoint nan
  one_error "not 'nan'"
  expect 2 hooke run flag --on-blowup explode
  one_error "expected one of stop|halve, not 'explode'"
  expect 2 hooke run flag --quiet=yes
  one_error "--quiet takes no value"
  expect 2 hooke run flag --set
  one_error "--set needs a value"
}

test_errors_of_values_that_were_set_name_the_option() {
  scene s.json
  for pair in 'time.step=-1|--set time.step: -1 is' 'bodies.0.springs.k=-1|--set bodies[0].springs.k: -1 is' \
    'time={"step": -1}|--set time.step: -1 is' 'time[0]=1|--set time[0]=1: there is no such place' \
    'pins.list[0].release=-1|--set pins[0].release: -1 is' \
    'bodies[0].mass={"area_density": 1, "total": 2}|--set bodies[0].mass: give only one of'; do
    for command in info run bench; do
      expect 1 hooke $command s.json --set "${pair%%|*}"
      one_error "${pair#*|}"
    done
  done
  # What stands in the file is not blamed on the option.
  sed -i 's/"duration": [^,]*/"duration": -1/' s.json
  expect 1 hooke info s.json --set time.step=0.01
  one_error 's.json:3:'
  ! grep -q -e --set err || fail "$(cat err)"
}

test_words_are_counted() {
  expect 2 hooke run
  one_error 'hooke run SCENE'
  expect 2 hooke run one two
  one_error "'two' is one word too many"
  expect 2 hooke convert one
  one_error 'hooke convert A B'
}

test_options_are_read_in_every_form() {
  scene -s.json 3 0.02
  expect 0 hooke run --set=time.duration=0.01 -oa --threads=1 --quiet -- -s.json
  expect 0 hooke run --set time.duration=0.01 -o b --threads 1 -q -- -s.json
  expect 0 hooke run -- -s.json
  same a b
  [ -f ./-s-out/run.json ]
}

test_resume_and_force_exclude_each_other() {
  scene s.json
  expect 2 hooke run s.json --resume --force
  one_error 'give one'
}

test_closed_pipe_is_no_error() {
  scene s.json 3 0.05
  for command in methods 'methods --json' schema help scenes 'run s.json'; do
    # shellcheck disable=SC2086
    { hooke $command 2>err; echo $? >code; } | true
    [ "$(cat code)" = 0 ] || fail "hooke $command ended with $(cat code)"
    ! grep -q '^hooke:' err || fail "hooke $command says $(cat err)"
  done
}

test_full_standard_output_is_an_error() {
  [ -c /dev/full ] || skip 'there is no /dev/full'
  code=0
  hooke schema >/dev/full 2>err || code=$?
  [ "$code" = 3 ]
  one_error 'standard output: cannot write'
}
