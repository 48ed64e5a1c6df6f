# hooke sweep: a scene with every combination of some values.

# A cloth that hangs from two corners; its probe is the corner below.
swept_cloth() {
  cat >"$1" <<'END'
{"bodies": [{"shape": {"type": "grid", "nx": 6, "ny": 5}, "springs": {"EA": 20, "shear": true}, "mass": 0.3}],
 "pins": [{"select": "top_left"}, {"select": "top_right", "release": 0.2}],
 "forces": ["gravity", {"type": "wind", "velocity": [1, 0, 2]}], "integrator": "backward_euler",
 "probes": [{"name": "low, left", "select": "bottom_left"}], "outputs": ["energies", "probes"],
 "time": {"duration": 0.4, "step": 0.01, "frames_per_second": 10}}
END
}

# A Python expression about rows, a list of dicts of the table in a file, is true.
swept_table() {
  python3 -c 'import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "not true: $2, of $(head -c 2000 "$1")"
}

test_sweep_has_a_row_for_every_combination() {
  swept_cloth s.json
  expect 0 hooke sweep s.json --vary k=50,500 --vary mass=0.1,0.2,0.3 --quiet
  silent err
  swept_table out 'len(rows) == 6 and [(r["k"], r["mass"]) for r in rows] == \
    [(k, m) for k in ("50", "500") for m in ("0.1", "0.2", "0.3")]'
  swept_table out 'all(r["status"] == "ok" and r["steps"] == "40" and abs(float(r["time"]) - 0.4) < 1e-9 for r in rows)'
  swept_table out 'len({r["total"] for r in rows}) == 6 and all(r["message"] == "" for r in rows)'
  swept_table out 'all(int(r["iterations"]) >= 1 and r["reason"] == "converged" for r in rows)'
}

# The same step, the same number of steps; times are summed up here and multiplied there.
test_sweep_ends_where_a_run_ends() {
  swept_cloth s.json
  expect 0 hooke sweep s.json --vary EA=20,60 --vary h=0.01,0.004 -o table.csv --quiet
  silent out
  expect 0 hooke run s.json --set 'bodies[0].springs.EA=60' --set time.step=0.004 -o run --quiet
  cat >check.py <<'END'
import csv
row = list(csv.DictReader(open("table.csv")))[3]
energies = list(csv.DictReader(open("run/energies.csv")))[-1]
probes = list(csv.DictReader(open("run/probes.csv")))[-1]
assert row["steps"] == "100", row
for name in ("kinetic", "spring", "gravity", "total"):
    assert abs(float(row[name]) - float(energies[name])) < 1e-9 * abs(float(energies["total"])), name
for name in ("x", "y", "z", "vx", "vy", "vz"):
    name = "low, left." + name
    assert abs(float(row[name]) - float(probes[name])) < 1e-9, name
END
  python3 check.py
}

test_sweep_has_the_same_bytes_for_any_number_of_threads() {
  swept_cloth s.json
  expect 0 hooke sweep s.json --vary k=50,500,5000 --vary integrator=backward_euler,symplectic_euler \
    --set time.step=0.001 --threads 1 --quiet
  mv out one
  expect 0 hooke sweep s.json --vary k=50,500,5000 --vary integrator=backward_euler,symplectic_euler \
    --set time.step=0.001 --threads 5 --quiet
  cmp out one
}

test_sweep_goes_on_after_a_world_that_blows_up() {
  swept_cloth s.json
  expect 4 hooke sweep s.json --set integrator=symplectic_euler --set time.step=0.002 --vary k=20,1e9,30 --quiet
  one_error '1 of 3 worlds failed; the first: the motion blew up'
  swept_table out '[r["status"] for r in rows] == ["ok", "blowup", "ok"]'
  swept_table out 'rows[1]["total"] == "" and "stable" in rows[1]["message"] and float(rows[2]["total"])'
}

test_sweep_names_values_that_make_no_sense() {
  swept_cloth s.json
  expect 1 hooke sweep s.json --vary k=-1,50 --quiet
  one_error 'bodies[0].springs.k: -1 is out of range'
  swept_table out '[r["status"] for r in rows] == ["format", "ok"] and "-1" in rows[0]["message"]'
  expect 1 hooke sweep s.json --vary nothing.there=1 --quiet
  one_error 'nothing'
}

test_sweep_takes_lists_objects_and_other_meshes() {
  swept_cloth s.json
  expect 0 hooke sweep s.json --vary 'forces[1].velocity=[1,0,0],[0,0,4]' --vary 'bodies[*].shape.nx=6,7' --quiet
  swept_table out '[r["forces[1].velocity"] for r in rows] == ["[1,0,0]"] * 2 + ["[0,0,4]"] * 2'
  swept_table out 'len({r["total"] for r in rows}) == 4 and [r["bodies[*].shape.nx"] for r in rows] == ["6", "7"] * 2'
  expect 0 hooke sweep s.json --vary 'integrator={"type":"bdf2"},"backward_euler"' --quiet
  swept_table out 'len(rows) == 2 and rows[0]["integrator"].startswith("{")'
  expect 0 hooke sweep s.json --vary 'mass=2' --set 'bodies[0].mass={"area_density": 1}' --quiet
  swept_table out 'rows[0]["status"] == "ok"'
}

test_sweep_sets_masses_that_bodies_give_in_different_ways() {
  printf '%s' '{"time": {"duration": 0.1}, "forces": ["gravity"], "bodies": [' \
    '{"shape": {"type": "chain", "n": 3}, "springs": {"k": 10}, "mass": {"total": 0.5}},' \
    '{"shape": {"type": "chain", "n": 3}, "springs": {"k": 10}, "mass": 1}]}' > two.json
  expect 0 hooke sweep two.json --vary mass=1,2 --quiet
  swept_table out 'len(rows) == 2 and all(row["status"] == "ok" for row in rows)'
}

test_sweep_refuses_bad_command_lines() {
  swept_cloth s.json
  expect 2 hooke sweep s.json
  one_error 'give at least one --vary'
  expect 2 hooke sweep s.json --vary k
  one_error '--vary k: give NAME=VALUE'
  expect 2 hooke sweep s.json --vary k=1,,2
  one_error 'a value is missing'
  expect 2 hooke sweep s.json --vary k=
  one_error 'a value is missing'
  expect 2 hooke sweep s.json --vary k=1 --vary k=2
  one_error 'is given twice'
  expect 2 hooke sweep s.json --vary h=0.01 --vary step=0.005
  one_error '--vary step: sets what h sets'
  expect 2 hooke sweep s.json --vary k=1 --vary EA=2
  one_error '--vary EA: sets what k sets'
  expect 2 hooke sweep s.json --vary 'forces[*].g=1'
  one_error 'stands for every body'
  expect 3 hooke sweep s.json --vary k=1 -o missing/table.csv
  one_error 'missing/table.csv: cannot write'
  [ ! -e missing ]
  expect 3 hooke sweep missing.json --vary k=1
  one_error 'there is no such file'
}

# One error, and nothing is written: neither a header nor over an earlier table.
test_sweep_without_a_plugin_for_the_device_ends_at_once() {
  [ ! -e "$(dirname "$HOOKE")/libhooke_cuda.so" ] || skip 'there is a plug-in'
  swept_cloth s.json
  echo 'an earlier table' >table.csv
  export HOOKE_PLUGINS=$PWD/nothing
  for device in cuda cuda_double; do
    expect 1 hooke sweep s.json --vary k=50,500 --device $device --quiet
    one_error 'there is no plug-in libhooke_cuda.so'
    silent out
    expect 1 hooke sweep s.json --vary k=50,500 --device $device -o table.csv --quiet
    one_error 'there is no plug-in libhooke_cuda.so'
    [ "$(cat table.csv)" = 'an earlier table' ] && [ ! -e table.csv.tmp ] || fail 'the table has changed'
  done
  expect 0 hooke sweep s.json --vary k=50,500 --device auto --quiet
  swept_table out 'len(rows) == 2 and all(row["status"] == "ok" for row in rows)'
}

# A limit on the address space is one of those that the program asks for.
test_sweep_moves_as_many_worlds_at_once_as_fit_into_memory() {
  ! sanitized || skip 'a sanitizer takes more memory than there is'
  swept_cloth s.json
  local large=(--set 'bodies[0].shape.nx=200' --set 'bodies[0].shape.ny=200' --set time.duration=0.1
    --set 'integrator=symplectic_euler' --set time.step=0.1 --set 'bodies[0].springs.EA=1e-9')
  export MALLOC_ARENA_MAX=1
  (ulimit -v 300000 && expect 0 hooke sweep s.json "${large[@]}" --vary "mass=$(seq -s, 1 32)" --threads 4 --quiet)
  silent err
  swept_table out '[r["mass"] for r in rows] == [str(q) for q in range(1, 33)] and all(r["status"] == "ok" for r in rows)'
  swept_table out '[r["world"] for r in rows] == [str(q) for q in range(32)]'
  # Worlds of other sizes: one that is larger than those before it begins the next chunk.
  (ulimit -v 300000 && expect 0 hooke sweep s.json "${large[@]}" --vary 'bodies[0].shape.nx=2,3,900,2,901' --threads 4 --quiet)
  swept_table out '[r["world"] for r in rows] == list("01234") and all(r["status"] == "ok" for r in rows)'
}

# On a device, which a plug-in of the tests plays, the log has the size of each batch.
test_sweep_takes_only_the_worlds_out_of_a_batch_that_cannot_be_made() {
  export HOOKE_PLUGINS; HOOKE_PLUGINS="$(dirname "$HOOKE")/tests/plugin"
  [ -e "$HOOKE_PLUGINS/libhooke_cuda.so" ] || skip 'there is no plug-in of the tests'
  swept_cloth s.json
  expect 1 hooke sweep s.json --vary k=40,50,60 --vary 'forces[1]=wind,face_wind,drag' --device cuda_double
  says err '3 of 9 worlds failed; the first: worlds on a device do not support the force'
  [ "$(grep -c 'worlds move on' err)" = 1 ] || fail "there is not one batch: $(cat err)"
  says err '6 worlds move on'
  swept_table out '[r["status"] for r in rows] == ["ok", "unsupported", "ok"] * 3'
  # One that does not compile.
  expect 1 hooke sweep s.json --vary k=40,-1,60 --device cuda_double
  says err '2 worlds move on'
  # A batch has one integrator, and the same springs.
  expect 0 hooke sweep s.json --vary k=40,50,60 --vary integrator=verlet,symplectic_euler --set time.step=0.001 --device cuda_double
  [ "$(grep -c '3 worlds move on' err)" = 2 ] || fail "there are not two batches: $(cat err)"
  swept_table out 'all(r["status"] == "ok" and r["steps"] == "400" for r in rows)'
  expect 0 hooke sweep s.json --vary 'bodies[0].springs.shear=true,false' --vary k=40,50,60 --device cuda_double
  [ "$(grep -c '3 worlds move on' err)" = 2 ] || fail "there are not two batches: $(cat err)"
  # As many vertices, springs and pins, but others: such worlds are halved until they fit together.
  expect 0 hooke sweep s.json --vary 'pins[1].select=top_right,bottom_right' --vary k=40,50 --device cuda_double
  [ "$(grep -c '2 worlds move on' err)" = 2 ] || fail "there are not two batches: $(cat err)"
  swept_table out 'len(rows) == 4 and all(r["status"] == "ok" for r in rows)'
}

# The first chunk of worlds is finished long before the whole.
test_sweep_keeps_finished_rows_at_ctrl_c() {
  swept_cloth s.json
  "$HOOKE" sweep s.json --vary "k=$(seq -s, 10 1 4000)" --set time.duration=2 --threads 1 -o table.csv >out 2>err &
  local pid=$!
  wait_sigint $pid handle
  wait_until grep -q 'worlds' err
  kill -INT $pid
  local code=0
  wait $pid || code=$?
  [ "$code" = 130 ] || fail "ended with $code: $(cat err)"
  says err 'stopped: '
  swept_table table.csv '8 <= len(rows) < 3991 and all(r["status"] == "ok" and r["steps"] == "200" for r in rows)'
  [ ! -e table.csv.tmp ]
}
