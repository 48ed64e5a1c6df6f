# Forces from shared libraries, by the example of examples/force_library.

# Puts the example, as it was built, into the folder of the test.
magnet() {
  local example
  example=$(dirname "$HOOKE")/examples/force_library
  [ -f "$example/magnet.so" ] || skip 'the example is not built'
  mkdir -p scene
  cp "$example/magnet.so" "$example/magnet.json" scene
}

test_scene_loads_a_library_only_with_the_option() {
  magnet
  for command in run info 'bench --methods verlet' 'compare --methods newton' matrices; do
    # shellcheck disable=SC2086 # words
    expect 1 hooke $command scene/magnet.json
    one_error "scene/magnet.json:15:33: forces[1].file: magnet.so is machine code"
    says err "the option 'libraries'"
  done
  expect 2 hooke view scene/magnet.json --libraries
  one_error "unknown option '--libraries'"
}

test_picture_of_a_scene_with_a_library() {
  magnet
  can_draw
  expect 1 hooke render scene/magnet.json -o a.png
  one_error "the option 'libraries'"
  expect 0 hooke render scene/magnet.json -o a.png --libraries -q --time 0.1 --size 160x120
  [ -f a.png ]
}

test_run_with_a_library_is_repeated_and_resumed() {
  magnet
  expect 0 hooke run scene/magnet.json --libraries -q -o whole --set time.duration=0.4
  expect 0 hooke run scene/magnet.json --libraries -o parts --set time.duration=0.2
  says out 'hooke run parts/run.json --libraries'
  expect 1 hooke run scene/magnet.json -q -o parts --set time.duration=0.4 --resume
  one_error "the option 'libraries'"
  expect 0 hooke run scene/magnet.json --libraries -q -o parts --set time.duration=0.4 --resume
  same whole parts
  expect 1 hooke run whole/run.json -q -o again
  one_error "the option 'libraries'"
  expect 0 hooke run whole/run.json --libraries -q -o again
  same whole again
  expect 0 hooke run scene/magnet.json --libraries -q -o without --set time.duration=0.4 --set 'forces=["gravity"]'
  if cmp -s whole/energies.csv without/energies.csv; then fail 'the magnet has no effect'; fi
}

test_commands_take_the_option_libraries() {
  magnet
  expect 0 hooke info scene/magnet.json --libraries
  says out 'library'
  expect 0 hooke matrices scene/magnet.json --libraries
  json 'j["vertices"] == 225'
  expect 0 hooke bench scene/magnet.json --libraries --methods verlet --steps 2 --json
  json 'j["methods"][0]["message"] is None'
  expect 0 hooke compare scene/magnet.json --libraries --methods newton --step 1 --json
}

test_library_errors_are_one_line_with_a_way_out() {
  magnet
  rm scene/magnet.so
  expect 3 hooke run scene/magnet.json --libraries -q
  one_error 'scene/magnet.json:15:33: forces[1].file: cannot load the force library: scene/magnet.so: cannot open'
  echo text >scene/magnet.so
  expect 3 hooke run scene/magnet.json --libraries -q
  one_error 'build it for this machine'
  magnet
  expect 1 hooke run scene/magnet.json --libraries -q --set 'forces[1].name=magnets'
  one_error "did you mean 'magnet'?"
  expect 1 hooke run scene/magnet.json --libraries -q --set 'forces[1].settings=strong'
  one_error 'expected "strength=S at=X,Y,Z distance=D"'
}

test_library_in_the_working_folder_is_found() {
  magnet
  cd scene
  expect 0 hooke run magnet.json --libraries -q --set time.duration=0.04
}
