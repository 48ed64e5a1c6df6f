# Interrupted runs: signals, kills, and going on with the same bytes.

# A run of some seconds, with all outputs.
long_scene() { scene "$1" 400 4; }

# Starts hooke with arguments in the background; its number is in $child.
start() {
  "$HOOKE" "$@" >out 2>err </dev/null &
  child=$!
}

# Waits for $child and leaves its exit code in $code, without bash's word on how it ended.
wait_child() {
  code=0
  wait "$child" 2>/dev/null || code=$?
}

# Whether a run in the folder has written some frames.
has_frames() { [ "$(wc -l <"$1/energies.csv")" -gt 20 ]; }
wait_frames() { wait_until has_frames "$1"; }

test_ctrl_c_then_resume_gives_the_same_bytes() {
  long_scene s.json
  expect 0 hooke run s.json -q -o whole
  start run s.json -o parts --checkpoint 1000
  wait_frames parts
  kill -INT "$child"
  wait_child
  [ "$code" = 130 ] || fail "ended with $code: $(cat err)"
  says out 'interrupted: '
  says err 'go on with: hooke run s.json -o parts --resume'
  [ -f parts/checkpoint ]
  ! diff -rq -x checkpoint.previous whole parts >/dev/null || fail 'it was not interrupted'
  expect 0 hooke run s.json -o parts --resume
  says out 'goes on at'
  same whole parts
}

test_sigterm_stops_like_ctrl_c() {
  long_scene s.json
  start run s.json --json -q
  wait_frames s-out
  kill -TERM "$child"
  wait_child
  [ "$code" = 143 ] || fail "ended with $code"
  json 'j["status"] == "interrupted" and j["exit_code"] == 143 and 0 < j["frame"] < j["frames"]'
  silent err
}

# Waits until the run has printed its folder, just before its first step.
wait_folder() { wait_until grep -q folder out; }

test_ctrl_c_ends_a_frame_of_an_hour() {
  scene s.json 400 36000
  start run s.json --set time.frames_per_second=0.0001
  wait_folder
  wait_for_work "$child" 20
  kill -INT "$child"
  stops_soon
  [ "$code" = 130 ]
  grep -q 'stopped at frame 0 of' err
  [ -f s-out/checkpoint ]
}

# The child ends soon: half a second is promised, on a machine that does nothing else.
stops_soon() {
  begun=$(date +%s%N)
  wait_child
  took=$((($(date +%s%N) - begun) / 1000000))
  sanitized && return
  [ "$took" -lt 2000 ] || fail "it took $took ms to stop"
}

# A square grid of $2 by $2 vertices with the integrator $3.
grid_scene() {
  cat >"$1" <<END
{
  "time": {"duration": 1, "frames_per_second": 10},
  "bodies": [{"shape": {"type": "grid", "nx": $2, "ny": $2}, "springs": {"shear": true, "bending": true}}],
  "forces": ["gravity"],
  "integrator": $3
}
END
}

test_signals_end_the_loading_of_a_large_scene() {
  grid_scene s.json 1000 '"symplectic_euler"' # loads for some seconds
  for words in 'run s.json' 'compare s.json' 'bench s.json'; do
    for signal in TERM INT; do
      start $words
      wait_sigint "$child" end
      wait_for_work "$child" 20
      kill -$signal "$child"
      stops_soon
      [ "$code" = $((128 + $(kill -l $signal))) ] || fail "$words ended with $code: $(cat err)"
    done
  done
  [ ! -e s-out/run.json ] || fail 'the scene was loaded before the signal came'
}

# The first signal waits for CHOLMOD here, for seconds; the second one, of another kind, does not.
test_a_second_signal_ends_the_program_at_once() {
  cholesky='{"type": "backward_euler", "minimizer": {"type": "newton", "linear": "cholesky"}}'
  grid_scene s.json 4 "$cholesky"
  hooke info s.json >/dev/null 2>&1 || skip 'there is no cholesky in this program'
  grid_scene s.json 300 "$cholesky"
  start run s.json
  wait_folder
  wait_for_work "$child" 50
  kill -INT "$child"
  wait_sigint "$child" end # as the handler does
  kill -TERM "$child"
  stops_soon
  [ "$code" = 143 ] || fail "ended with $code: $(cat err)"
  ! grep -q 'stopped at frame' err || fail 'the first signal was enough'
}

test_signals_end_long_adaptive_and_newton_steps() {
  # Steps of many seconds: a tolerance of a nanometer, and a solve that is never exact enough.
  scene s.json 2500 4
  for set in time.tolerance=1e-9 \
    'integrator={"type": "backward_euler", "minimizer": {"type": "gradient_descent", "tolerance": 1e-14, "iterations": 1000000000}}'; do
    start run s.json -f --set time.frames_per_second=2 --set integrator=backward_euler \
      --set time.step=0.5 --set "$set"
    wait_folder
    wait_for_work "$child" 30
    kill -TERM "$child"
    stops_soon
    [ "$code" = 143 ]
    grep -q 'stopped at frame 0 of' err
    [ -f s-out/checkpoint ]
  done
}

test_cancelled_step_resumes_to_the_same_bytes() {
  scene s.json 100 1
  sets=(--set time.tolerance=1e-6 --set integrator=backward_euler)
  expect 0 hooke run s.json "${sets[@]}" -q -o whole
  start run s.json "${sets[@]}" -o parts --checkpoint 1e9
  wait_folder
  kill -INT "$child"
  wait_child
  expect 0 hooke run s.json "${sets[@]}" -q -o parts --resume
  same parts whole
}

test_resume_command_repeats_the_options() {
  long_scene "it's.json"
  start run "it's.json" --set time.duration=3 --set 'bodies[0].springs.k=4000'
  wait_frames "it's-out"
  kill -INT "$child"
  wait_child
  line=$(sed -n 's/.*go on with: hooke //p' err)
  [ -n "$line" ]
  eval "expect 0 hooke $line -q"
  expect 0 hooke run "it's.json" --set time.duration=3 --set 'bodies[0].springs.k=4000' -q -o whole
  same "it's-out" whole
}

test_killed_runs_resume_to_the_same_bytes() {
  long_scene s.json
  begin=$(date +%s%N)
  expect 0 hooke run s.json -q -o whole --checkpoint 0.02
  length=$((($(date +%s%N) - begin) / 1000))
  RANDOM=${SEED:=$(($(date +%s) % 32768))}
  echo "SEED=$SEED"
  kills=0
  for _ in $(seq 100); do
    start run s.json -q -o parts --checkpoint 0.02 --resume
    pause=$((length * (20 + RANDOM % 120) / 1000)) # any moment will do, so none is waited for
    sleep "$(printf '%d.%06d' $((pause / 1000000)) $((pause % 1000000)))"
    kill -KILL "$child" 2>/dev/null || true
    wait_child
    if [ "$code" = 0 ]; then # done; on a busy machine perhaps with few kills, then once more
      same whole parts
      [ "$kills" -lt 5 ] || return 0
      rm -r parts
      continue
    fi
    # A process whose code is being read from the disk when it is killed may end by a bus error.
    [ "$code" = 137 ] || [ "$code" = 135 ] || fail "resuming ended with $code: $(cat err)"
    kills=$((kills + 1))
  done
  expect 0 hooke run s.json -q -o parts --resume
  [ "$kills" -ge 5 ] || fail "only $kills kills"
  same whole parts
}

test_runs_killed_at_their_start_resume() {
  scene s.json 3000 0.05
  expect 0 hooke run s.json -q -o whole
  for pause in 0 0.001 0.002 0.004 0.006 0.008 0.012 0.016 0.03; do
    rm -rf parts
    start run s.json -q -o parts
    sleep "$pause" # whatever has happened by then
    kill -KILL "$child" 2>/dev/null || true
    wait_child
    expect 0 hooke run s.json -q -o parts --resume
    same whole parts
  done
}

test_resume_where_nothing_is_starts_the_run() {
  scene s.json
  expect 0 hooke run s.json -q -o whole
  expect 0 hooke run s.json -o fresh --resume
  says err 'there is nothing to resume yet'
  same whole fresh
}

test_resume_without_its_checkpoints_keeps_the_frames() {
  scene s.json
  expect 0 hooke run s.json -q
  rm s-out/checkpoint*
  cp -r s-out before
  expect 3 hooke run s.json -q --resume
  one_error 'there is nothing to resume; the option force in place of resume starts over'
  same s-out before
  expect 0 hooke run s.json -q --force
}

test_resume_of_a_finished_run_changes_nothing() {
  scene s.json
  expect 0 hooke run s.json -q
  cp -r s-out before
  expect 0 hooke run s.json --resume
  says out 'done: 0 frames'
  same s-out before
}

test_resume_can_make_a_run_longer() {
  scene s.json 5 1
  expect 0 hooke run s.json -q -o whole
  expect 0 hooke run s.json -q -o parts --set time.duration=0.4
  expect 0 hooke run s.json -q -o parts --resume
  same whole parts
}

test_resume_refuses_another_scene() {
  scene s.json 5 0.2
  expect 0 hooke run s.json -q
  cp -r s-out before
  expect 1 hooke run s.json -q --resume --set 'bodies[0].springs.k=4999'
  one_error 'belongs to another scene'
  same s-out before
}

# Overwrites or empties a checkpoint.
damage_checkpoint() {
  if [ "$2" = cut ]; then
    : >"$1"
  else
    printf 'x' | dd of="$1" bs=1 seek=100 conv=notrunc 2>/dev/null
  fi
}

test_damaged_checkpoint_leads_to_the_one_before_it() {
  scene s.json 5 0.2
  expect 0 hooke run s.json -q -o whole
  for damage in cut overwritten; do
    rm -rf parts
    expect 0 hooke run s.json -q -o parts --checkpoint 0 --set time.duration=0.1
    damage_checkpoint parts/checkpoint $damage
    expect 0 hooke run s.json -o parts --resume
    says err 'goes back to the checkpoint before the last one'
    same whole parts
  done
}

test_advice_about_damaged_checkpoints_works() {
  scene s.json 5 0.2
  expect 0 hooke run s.json -q -o whole
  for damage in cut overwritten; do
    rm -rf parts
    expect 0 hooke run s.json -q -o parts
    damage_checkpoint parts/checkpoint $damage
    damage_checkpoint parts/checkpoint.previous $damage
    expect 1 hooke run s.json -q -o parts --resume
    one_error 'parts/checkpoint: is '
    says err 'the option force in place of resume starts over'
    expect 0 hooke run s.json -q -o parts --force
    same whole parts
  done
}

# Cuts a file in half, writes zeros over the end of it, or changes one byte.
damage_file() {
  local size
  size=$(stat -c %s "$1")
  case $2 in
  cut) truncate -s $((size / 2)) "$1" ;;
  empty) : >"$1" ;;
  zeros) truncate -s $((size / 2)) "$1" && truncate -s "$size" "$1" ;;
  esac
}

test_damaged_files_of_a_killed_run_are_written_again() {
  scene s.json 20 0.6
  expect 0 hooke run s.json -q -o whole
  for _ in 1 2 3 4 5 6 7 8; do # it may be done before it is killed
    rm -rf killed
    start run s.json -q -o killed --checkpoint 0
    wait_frames killed
    kill -KILL "$child" 2>/dev/null || true
    wait_child
    diff -rq -x checkpoint.previous whole killed >/dev/null || break
  done
  ! diff -rq -x checkpoint.previous whole killed >/dev/null || fail 'it was not killed'
  frames=$(($(wc -l <killed/checksums) / 3))
  last=$(printf '%06d' $((frames - 2)))
  for file in energies.csv probes.csv mesh.pc2 vtu.pvd mesh.obj run.json checksums checkpoint \
    checkpoint.previous vtp/frame_000000.vtp "obj/frame_$last.obj" "vtu/frame_$last.vtu"; do
    for damage in cut empty zeros; do
      rm -rf parts
      cp -r killed parts
      [ -e "parts/$file" ] || continue # between two checkpoints there is only the previous one
      damage_file "parts/$file" $damage
      expect 0 hooke run s.json -o parts --resume
      diff -r -x checkpoint.previous whole parts >difference 2>&1 ||
        fail "$file, $damage: $(head -5 difference)"
      case $file in
      energies.csv | mesh.pc2 | mesh.obj | checksums | vtp/*)
        grep -qE 'goes back to|begins at its start' err || fail "$file, $damage: $(cat err)"
        ;;
      esac
    done
  done
}

test_damage_since_the_last_checkpoint_but_one_costs_no_more() {
  scene s.json 5 0.3
  expect 0 hooke run s.json -q -o whole
  expect 0 hooke run s.json -q -o parts --checkpoint 0 --set time.duration=0.2
  damage_file parts/vtp/frame_000020.vtp zeros
  expect 0 hooke run s.json -o parts --resume
  says err 'vtp/frame_000020.vtp: is damaged'
  says err 'goes back to the checkpoint before the last one'
  says out 'goes on at'
  same whole parts
}

test_frames_that_were_moved_away_do_not_stop_a_resumed_run() {
  scene s.json 5 0.3
  expect 0 hooke run s.json -q -o whole
  expect 0 hooke run s.json -q -o parts --set time.duration=0.2
  rm parts/obj/frame_000000.obj parts/obj/frame_000003.obj
  expect 0 hooke run s.json -o parts --resume
  says err 'obj/frame_000000.obj: is not there any more; the run goes on without it'
  rm whole/obj/frame_000000.obj whole/obj/frame_000003.obj
  same whole parts
}

test_two_runs_do_not_write_into_one_folder() {
  long_scene s.json
  expect 0 hooke run s.json -q -o whole
  start run s.json -q -o parts
  wait_frames parts
  "$HOOKE" run s.json -o parts --force >/dev/null 2>err2 && fail 'a second run began'
  says err2 'parts: another run is writing into this folder'
  "$HOOKE" run s.json -o parts --resume >/dev/null 2>err2 && fail 'a second run went on'
  says err2 'parts: another run is writing into this folder'
  kill -0 "$child" || fail 'the first run ended before the second was refused'
  kill -KILL "$child"
  wait_child
  expect 0 hooke run s.json -q -o parts --resume
  same whole parts
}
