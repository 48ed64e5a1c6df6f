# hooke run: what it takes, prints and leaves.

test_run_leaves_frames_energies_and_a_record() {
  scene s.json 5 0.1
  expect 0 hooke run s.json
  [ -f s-out/run.json ] && [ -f s-out/checkpoint ]
  [ "$(wc -l <s-out/energies.csv)" = 12 ]
  for text in 'A "test" scene' 'vertices      5, 1 pinned' 'springs       4' 'step          0.0001 s' \
    'stable step   below' 'frames        10, 0.1 s at 100' 'folder        s-out' 'done: 10 frames' \
    'steps         1,000' 'energies in J' 't = 0.1 s' 'hooke run s-out/run.json'; do
    says out "$text"
  done
}

test_run_takes_the_scene_name_for_its_folder() {
  mkdir inner
  scene inner/my.scene.json 3 0.02
  expect 0 hooke run inner/my.scene.json -q
  [ -d my.scene-out ]
  expect 0 hooke run inner/my.scene.json -q -o deep/er/
  [ -f deep/er/run.json ]
}

test_run_of_a_built_in_scene() {
  expect 0 hooke run oscillator -q --set time.duration=0.1
  [ -f oscillator-out/energies.csv ]
}

test_file_wins_over_built_in_scene() {
  scene oscillator 7 0.02
  expect 0 hooke run oscillator --json -q
  json 'j["vertices"] == 7'
  rm -r oscillator oscillator-out
  mkdir oscillator
  expect 0 hooke info oscillator --json
  json 'j["vertices"] != 7'
}

test_unknown_scene_gets_a_suggestion() {
  expect 3 hooke run flagg
  one_error "did you mean 'flag'?"
  expect 3 hooke run falg.json
  one_error "did you mean 'flag'?"
  expect 3 hooke run nothing/at/all.json
  one_error 'there is no such file'
}

test_scene_errors_name_line_and_column() {
  printf '{\n  "bodies": [{"shape": "chain"}],\n  "outputs": ["energies"],\n  "time": {"durations": 3}\n}\n' >s.json
  expect 1 hooke run s.json
  one_error 's.json:4:'
  says err "did you mean 'duration'?"
  [ ! -e s-out ]
  printf '{\n  "bodies": [\n}\n' >s.json
  expect 1 hooke run s.json
  one_error 's.json:3:'
  printf '{"bodies": [{"mesh": "none.obj"}], "outputs": ["energies"]}\n' >s.json
  expect 3 hooke run s.json
  one_error 'none.obj'
}

test_mesh_is_no_scene() {
  printf 'v 0 0 0\n' >m.obj
  expect 1 hooke run m.obj
  one_error 'is a mesh, not a scene'
}

test_set_changes_values_and_checks_them() {
  scene s.json 3 0.02
  expect 0 hooke run s.json -q --json --set time.duration=0.05 --set 'bodies[0].shape.n=4'
  json 'j["frames"] == 5 and j["vertices"] == 4'
  expect 1 hooke run s.json -o b --set time.stepp=1
  one_error "did you mean 'step'?"
  expect 1 hooke run s.json -o b --set nonsense
  one_error 'expected PATH=VALUE'
}

test_quiet_prints_nothing_but_errors() {
  scene s.json
  expect 0 hooke run s.json --quiet
  silent out
  silent err
  expect 1 hooke run s.json --quiet
  silent out
  one_error 'holds a run already'
}

test_json_is_one_object_with_all_facts() {
  scene s.json 5 0.1
  expect 0 hooke run s.json --json -o 'odd "name"'
  json 'j["status"] == "done" and j["exit_code"] == 0 and j["message"] is None'
  json 'j["scene"] == "s.json" and j["folder"] == "odd \"name\"" and j["title"] == "A \"test\" scene"'
  json 'j["vertices"] == 5 and j["springs"] == 4 and j["frames"] == 10 and j["steps"] == 1000'
  json 'abs(j["step"] - 1e-4) < 1e-15 and j["stable_step"] > j["step"] and j["seconds"] > 0'
  json 'j["first"]["total"] == 0 and j["last"]["kinetic"] > 0 and j["last"]["gravity"] < 0'
  json 'abs(sum(j["last"][k] for k in ("kinetic", "spring", "gravity", "other")) - j["last"]["total"]) < 1e-9'
  json '{"energies.csv", "run.json", "checkpoint"} <= set(j["files"])'
  expect 1 hooke run s.json --json -o 'odd "name"'
  json 'j["status"] == "error" and j["exit_code"] == 1 and "holds a run" in j["message"]'
}

test_run_never_overwrites_unasked() {
  scene s.json 3 0.05
  expect 0 hooke run s.json -q
  cp -r s-out before
  expect 1 hooke run s.json --set 'bodies[0].shape.n=9'
  says err 'hooke: s-out: holds a run already; the option resume continues it, force replaces it'
  same s-out before
  expect 0 hooke run s.json -q --force --set 'bodies[0].shape.n=9'
  ! diff -rq s-out before >/dev/null
}

test_force_leaves_no_frame_of_the_earlier_run() {
  scene s.json 3 0.2
  expect 0 hooke run s.json -q
  expect 0 hooke run s.json -q --force --set time.duration=0.1
  expect 0 hooke run s.json -q -o fresh --set time.duration=0.1
  same s-out fresh
}

test_record_repeats_the_run() {
  scene s.json 5 0.2
  expect 0 hooke run s.json -q -o first --set integrator=verlet
  expect 0 hooke run first/run.json -q -o second
  same first second
}

test_threads_do_not_change_the_bytes() {
  scene s.json 5000 0.02
  expect 0 hooke run s.json -q -o one --threads 1
  expect 0 hooke run s.json -q -o two --threads 2
  same one two
}

test_scenes_of_the_graphics_course_run() {
  [ -f "${HOOKE_TEST_DATA:-}/flag.json" ] || skip 'HOOKE_TEST_DATA is not there'
  for name in flag net horizontal-chain single-spring-horizontal; do
    expect 0 hooke run "$HOOKE_TEST_DATA/$name.json" --json -q --set time.duration=0.1
    json 'j["status"] == "done" and j["frames"] == 3 and j["last"]["gravity"] < j["first"]["gravity"]'
    [ -f "$name-out/energies.csv" ]
  done
}

test_another_integrator_gets_a_stable_step_in_scenes_of_the_course() {
  [ -f "${HOOKE_TEST_DATA:-}/flag.json" ] || skip 'HOOKE_TEST_DATA is not there'
  explicit='--set integrator=symplectic_euler --set time.duration=0.2'
  # shellcheck disable=SC2086
  expect 0 hooke run "$HOOKE_TEST_DATA/flag.json" --json -q $explicit -o picked
  json 'j["status"] == "done" and j["step"] < j["stable_step"] < 1 / 30'
  # shellcheck disable=SC2086
  expect 4 hooke run "$HOOKE_TEST_DATA/flag.json" --json -q $explicit --set time.step=0.033333 -o given
  expect 0 hooke run "$HOOKE_TEST_DATA/flag.json" --json -q --set time.duration=0.1 -o own
  json 'abs(j["step"] - 1 / 30) < 1e-9'
}

test_blowup_keeps_frames_and_says_where() {
  scene s.json 5 2
  # omega of the stiffest mode is near 2 sqrt(k/m) = 2 sqrt(5000 / 0.2), so 10 ms is three times too much.
  unstable='--set time.frames_per_second=100 --set time.step=0.01'
  # shellcheck disable=SC2086
  expect 4 hooke run s.json $unstable
  grep '^hooke: ' err >error
  [ "$(wc -l <error)" = 1 ]
  grep -qE 'blew up at t = [0-9.]+ s.*vertex [0-9]+, spring [0-9]+.*step below [0-9.]+ s' error ||
    fail "the message is not complete: $(cat error)"
  says err 'kept: frames 0 to'
  frames=$(($(wc -l <s-out/energies.csv) - 2))
  [ "$frames" -ge 1 ]
  says err "kept: frames 0 to $frames in s-out"
  # shellcheck disable=SC2086
  expect 4 hooke run s.json $unstable --force --json -q
  json 'j["status"] == "blowup" and j["exit_code"] == 4 and j["last"] is None and j["frame"] >= 1'
}

test_blowup_halve_completes() {
  scene s.json 5 1
  # Frames of 20 steps each, so that it blows up within the first one.
  expect 0 hooke run s.json --set time.step=0.01 --set time.frames_per_second=5 --on-blowup halve
  says out 'halved'
  says err 'warning: the motion blew up'
  [ "$(wc -l <s-out/energies.csv)" = 7 ]
  awk -F, 'NR > 1 && ($7 > 1 || $7 < -1) {bad = 1} END {exit bad}' s-out/energies.csv ||
    fail "energy was gained: $(cut -d, -f 7 s-out/energies.csv)"
}

test_run_counts_the_steps_that_do_not_converge() {
  scene s.json 20 0.2
  expect 0 hooke run s.json --set time.step=0.01 --json --set 'integrator={"type": "backward_euler",
    "minimizer": {"type": "newton", "iterations": 1}}'
  json 'j["unconverged"] == j["steps"] == 20 and j["minimizer"] == "newton"'
  [ "$(grep -c 'did not converge' err)" = 1 ]
  says err 'give the minimizer more iterations or a larger tolerance'
  expect 0 hooke run s.json --set time.step=0.01 --force --set 'integrator={"type": "backward_euler",
    "minimizer": {"type": "newton", "iterations": 1}}'
  says out 'not converged 20 steps: their equations are not met to the tolerance'
  grep -q '^20,0.2.*,1,0,0,1,1,2,0,.*,0,1,iterations$' s-out/solver.csv
  expect 0 hooke run s.json --set time.step=0.01 --force --set integrator=backward_euler
  ! grep -q 'not converged' out
  expect 0 hooke run s.json --force
  ! grep -q 'not converged' out
}

test_run_prints_the_contacts_of_the_end() {
  cat >scene.json <<'END'
{"bodies": [{"shape": {"type": "grid", "nx": 4, "ny": 4, "plane": "xz"}, "transform": {"translate": [0, 0.002, 0]}, "mass": 1}],
 "forces": ["gravity", {"type": "contact", "ground": true}], "integrator": "backward_euler",
 "time": {"duration": 0.3, "step": 0.01, "frames_per_second": 10}, "outputs": ["contacts", "reactions"]}
END
  expect 0 hooke run scene.json -o first
  says out 'contacts      16 at the end, the least gap is 0.'
  expect 0 hooke run scene.json -o again --json
  json 'j["contacts"]["count"] == 16 and 0 < j["contacts"]["least_gap"] < 1e-3'
  [ -f again/contacts/frame_000003.vtu ] && [ -f again/contacts.pvd ]
  expect 0 hooke run curtain -o without --json --set time.duration=0.1
  json '"contacts" not in j'
}
