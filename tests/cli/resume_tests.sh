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

# Waits until a run in the folder has written some frames.
wait_frames() {
  for _ in $(seq 500); do
    [ -f "$1/energies.csv" ] && [ "$(wc -l <"$1/energies.csv")" -gt 20 ] && return
    sleep 0.02
  done
  fail "no frames in $1: $(cat err)"
}

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
  ! diff -rq whole parts >/dev/null || fail 'it was not interrupted'
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

test_second_ctrl_c_stops_at_once() {
  # One frame of an hour.
  scene s.json 400 36000
  start run s.json --set time.frames_per_second=0.0001
  for _ in $(seq 200); do
    grep -q folder out && break
    sleep 0.02
  done
  kill -INT "$child"
  sleep 0.3
  kill -0 "$child" 2>/dev/null || fail 'the first Ctrl-C did not wait for the frame'
  kill -INT "$child"
  wait_child
  [ "$code" = 130 ]
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
    pause=$((length * (20 + RANDOM % 120) / 1000))
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
    sleep "$pause"
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

test_resume_without_its_checkpoint_keeps_the_frames() {
  scene s.json
  expect 0 hooke run s.json -q
  rm s-out/checkpoint
  cp -r s-out before
  expect 3 hooke run s.json -q --resume
  one_error 'there is nothing to resume'
  same s-out before
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

test_damaged_checkpoint_is_noticed() {
  scene s.json 5 0.2
  expect 0 hooke run s.json -q
  printf 'x' | dd of=s-out/checkpoint bs=1 seek=100 conv=notrunc 2>/dev/null
  expect 1 hooke run s.json -q --resume
  one_error 's-out/checkpoint'
  : >s-out/checkpoint
  expect 1 hooke run s.json -q --resume
  one_error 's-out/checkpoint'
}
