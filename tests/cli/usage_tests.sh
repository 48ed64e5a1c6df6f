# The command line itself: commands, options, help.

test_version_is_that_of_the_library() {
  expect 0 hooke --version
  grep -qE '^hooke [0-9]+\.[0-9]+\.[0-9]+$' out
  silent err
}

test_help_lists_commands_and_exit_codes() {
  expect 0 hooke --help
  for word in run render info matrices methods scenes new convert schema help 'Exit codes' 130 143; do
    says out "$word"
  done
  cp out overview
  expect 0 hooke help
  cmp out overview
  expect 0 hooke -h
  cmp out overview
}

test_every_command_has_help_with_examples() {
  for command in run render info matrices methods scenes new convert schema help; do
    expect 0 hooke "$command" --help
    says out Examples
    says out "  hooke $command"
    cp out first
    expect 0 hooke help "$command"
    cmp out first
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
