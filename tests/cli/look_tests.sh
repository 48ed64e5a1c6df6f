# Commands that look and write single files: info, matrices, methods, scenes, new, convert, schema.

test_methods_lists_every_family() {
  expect 0 hooke methods
  for word in Shapes Forces Motions Integrators Minimizers 'Linear solvers' Preconditioners Outputs \
    'Parts of a scene' 'Mesh formats' chain gravity fixed symplectic_euler energies time obj; do
    says out "$word"
  done
  silent err
}

test_methods_of_a_name_shows_units_defaults_and_ranges() {
  expect 0 hooke methods time
  says out 'time (part of a scene)'
  says out 'frames_per_second'
  grep -qE '^  duration +s +10 ' out
  expect 0 hooke methods gravity
  says out 'm/s^2'
}

test_methods_of_a_shared_name_shows_all() {
  expect 0 hooke methods springs
  says out 'springs (force)'
  says out 'springs (part of a scene)'
}

test_methods_near_miss_gets_a_suggestion() {
  expect 1 hooke methods gravty
  one_error "did you mean 'gravity'?"
}

test_methods_json_is_the_registry() {
  expect 0 hooke methods --json
  json 'len({(m["family"], m["name"]) for m in j}) == len(j)'
  json '{"shape", "force", "motion", "integrator", "output", "mesh format"} <= {m["family"] for m in j}'
  expect 0 hooke methods gravity --json
  json 'len(j) == 1 and any(p["unit"] == "m/s^2" and p["default"] > 9 for p in j[0]["parameters"])'
}

test_schema_is_json_schema() {
  expect 0 hooke schema
  json 'j["$schema"].startswith("https://json-schema.org/") and "bodies" in j["properties"]'
}

test_scenes_lists_and_prints_the_built_in_ones() {
  expect 0 hooke scenes
  says out oscillator
  says out flag
  expect 0 hooke scenes oscillator
  cp out mine.json
  expect 0 hooke info mine.json --json
  cp out mine
  expect 0 hooke info oscillator --json
  sed 's/"scene": "[^"]*"//' out >builtin
  sed 's/"scene": "[^"]*"//' mine | cmp - builtin
}

test_scenes_near_miss_gets_a_suggestion() {
  expect 1 hooke scenes flagg
  one_error "did you mean 'flag'?"
}

test_info_of_a_scene_is_exact() {
  cat >s.json <<'END'
{"bodies": [{"shape": {"type": "chain", "n": 3, "end": [2, 0, 0]}, "springs": {"k": 50}, "mass": 6}],
 "pins": [{"select": "start"}], "time": {"duration": 2, "frames_per_second": 10}, "outputs": ["energies"]}
END
  expect 0 hooke info s.json
  for text in 'vertices      3' 'springs       2' 'mass          6 kg' 'stiffness     50 N/m' \
    'rest lengths  1 m' 'x from 0 to 2 m' 'frames        20, 2 s at 10 a second' 'memory ' 'in all '; do
    says out "$text"
  done
  expect 0 hooke info s.json --json
  # Two masses of 2 kg on two springs of 50 N/m, fixed at one end: omega^2 = k / m (3 + sqrt 5) / 2.
  json 'abs(j["stable_step"] / (2 / (25 * (3 + 5 ** 0.5) / 2) ** 0.5) - 1) < 0.01'
  json 'j["pinned"] == 1 and j["frames"] == 20 and j["mass_range"] == [2, 2]'
  [ "$(ls)" = "$(printf 'err\nout\ns.json')" ] || fail "info left files: $(ls)"
}

test_info_compares_thickness_with_edges_and_lists_friction() {
  cat >s.json <<'END'
{"bodies": [{"name": "cloth", "shape": {"type": "grid", "nx": 5, "ny": 5}, "contact": {"thickness": 0.01, "friction": 0.5}}],
 "obstacles": [{"type": "ball", "name": "marble", "center": [0, -2, 0]}],
 "pairs": [{"between": ["marble", "cloth"], "friction": 0.2, "friction_kinetic": 0.1}],
 "forces": [{"type": "contact", "ground": true, "height": -5, "friction": 0.3}],
 "time": {"step": 0.01}, "integrator": "backward_euler"}
END
  expect 0 hooke info s.json
  for text in 'cloth: thickness 0.01 m, edges from 0.25 m' '32 triangles, 56 edges, 25 points' \
    'cloth: 0.5, sliding 0.5' 'cloth and marble: 0.2, sliding 0.1' 'ground: 0.3, sliding 0.3'; do
    says out "$text"
  done
  expect 0 hooke info s.json --json
  says out '"name": "cloth", "touches": "all", "thickness": 0.01, "shortest_edge": 0.25'
  expect 0 hooke info s.json --set 'bodies[0].contact={"thickness": 0.3, "self": false}'
  says out 'ratio 1.2, not itself'
  says out 'thicker than its shortest edge'
  expect 1 hooke info s.json --set 'bodies[0].contact.thickness=0.3'
  says err "'cloth' has a thickness of 0.3 m, but an edge of 0.25 m"
  expect 1 hooke info s.json --set 'pairs[0].between=["marbel", "cloth"]'
  says err "did you mean 'marble'"
}

test_info_shows_how_an_implicit_step_is_solved() {
  scene s.json
  expect 0 hooke info s.json --set 'integrator={"type": "backward_euler", "minimizer":
    {"type": "newton", "tolerance": 1e-5, "linear": {"type": "pcg", "preconditioner": "ic0"}}}'
  for text in 'integrator    backward_euler' 'minimizer     newton: iterations' 'tolerance 1e-05' \
    'linear        pcg' 'precondition  ic0' 'stable step   any: every step'; do
    says out "$text"
  done
  # What is not given is the default.
  expect 0 hooke info s.json --set integrator=backward_euler --json
  json 'j["integrator"] == "backward_euler" and j["minimizer"] == "newton" and j["stable_step"] is None'
  json 'j["linear"] in ("cholesky", "ldlt")'
  expect 0 hooke info s.json --json
  json '"minimizer" not in j and j["stable_step"] > 0'
}

test_info_prints_the_memory_of_a_run() {
  cat >s.json <<'END'
{"bodies": [{"shape": {"type": "grid", "nx": 40, "ny": 40}}], "pins": [{"select": "top"}],
 "forces": ["gravity"], "integrator": {"type": "bdf2", "minimizer": "local_global"}}
END
  expect 0 hooke info s.json --json
  json 'abs(j["bytes_per_vertex"] * 1600 - j["model_bytes"] - j["state_bytes"] - j["workspace_bytes"]) < 1'
  json 'abs(j["bytes_per_spring"] * j["springs"] - j["bytes_per_vertex"] * 1600) < 1'
  # The step before is in the state, the factor of more than 20 entries a vertex in the workspace.
  json 'j["state_bytes"] > 1600 * 4 * 24 and j["workspace_bytes"] > 1600 * (20 * 4 + 20 * 24)'
}

test_info_prints_all_but_the_memory_of_a_step_that_fails() {
  scene s.json
  expect 0 hooke info s.json --set time.energy_bound=1e-30
  says err 'the first step fails: the motion blew up'
  says out 'in all '
}

test_info_takes_changed_values() {
  scene s.json 5
  expect 0 hooke info s.json --json --set 'bodies[0].shape.n=9' --set integrator=verlet
  json 'j["vertices"] == 9 and j["integrator"] == "verlet"'
}

test_info_of_a_mesh_counts_cells() {
  printf 'v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nf 1 2 3\nl 3 4\n' >m.obj
  expect 0 hooke info m.obj
  says out 'vertices      4'
  says out 'triangles     1'
  says out 'lines         1'
  says out 'y from 0 to 2 m'
  expect 0 hooke info m.obj --json
  json 'j["vertices"] == 4 and j["cells"] == {"lines": 1, "triangles": 1} and j["box_max"] == [1, 2, 0]'
  expect 2 hooke info m.obj --set time.step=1
  one_error '--set is for scenes'
}

test_info_of_a_broken_mesh_names_the_line() {
  printf 'v 0 0 0\nv 1 x 0\n' >m.obj
  expect 1 hooke info m.obj
  one_error 'm.obj:2:5:'
  expect 3 hooke info nothing.obj
  one_error 'nothing.obj: cannot open'
}

test_convert_keeps_vertices_and_cells() {
  printf 'v 0 0 0\nv 1 0 0\nv 1 2 0.125\nv 0 2 0\nf 1 2 3\nf 1 3 4\n' >m.obj
  expect 0 hooke convert m.obj m.ply
  says out 'm.ply: 4 vertices, 2 triangles'
  expect 0 hooke convert m.ply back.obj --quiet
  silent out
  expect 0 hooke info m.obj --json
  sed 's/m.obj//' out >first
  expect 0 hooke info back.obj --json
  sed 's/back.obj//' out | cmp - first
}

test_convert_says_what_it_cannot_do() {
  printf 'v 0 0 0\nv 1 0 0\nl 1 2\n' >m.obj
  expect 1 hooke convert m.obj m.docx
  one_error 'docx'
  expect 1 hooke convert m.obj ./m.obj
  one_error 'would be written over by itself'
  expect 3 hooke convert m.obj m.obj/m.ply
  one_error 'cannot write'
  expect 3 hooke convert nothing.obj m.ply
  one_error 'nothing.obj'
}

test_new_scene_runs_and_explains_itself() {
  expect 0 hooke new cloth
  says out 'hooke run cloth.json'
  says cloth.json '// '
  expect 0 hooke info cloth.json
  expect 0 hooke run cloth.json --quiet --set time.duration=0.1
  [ -f cloth-out/energies.csv ]
  [ "$(wc -l <cloth-out/energies.csv)" = 5 ]
}

test_new_never_overwrites_unasked() {
  echo precious >cloth.json
  expect 1 hooke new cloth
  one_error 'is there already; --force replaces it'
  [ "$(cat cloth.json)" = precious ]
  expect 0 hooke new cloth.json --force
  says cloth.json '"bodies"'
}

test_new_copies_a_built_in_scene() {
  expect 0 hooke new mine --from oscillator
  hooke scenes oscillator | cmp - mine.json
  expect 1 hooke new other --from oscilator
  one_error "did you mean 'oscillator'?"
  [ ! -e other.json ]
  expect 3 hooke new nowhere/mine
  one_error 'cannot write'
}

# Two springs on a line: k = 10 N/m stretched by 0.5 m from the pinned vertex 0, and 20 N/m compressed by 0.25 m.
pair() {
  cat >"$1" <<END
{"bodies": [{"mesh": {"vertices": [[0, 0, 0], [1, 0, 0], [1.5, 0, 0]]},
             "springs": {"table": [[0, 1, 10, 0.5, 0], [1, 2, 20, 0.75, 0]]}, "mass": {"per_vertex": 3}}],
 "pins": [{"select": {"indices": [0]}}], "forces": ["gravity"], "integrator": "verlet", "time": {"step": 0.01}}
END
}

test_matrices_are_written_as_json() {
  pair s.json
  expect 0 hooke matrices s.json
  json 'j["vertices"] == 3 and j["pinned"] == [0] and j["time"] == 0 and j["mass"] == [3] * 9'
  json 'all(abs(a - b) < 1e-12 for a, b in zip(j["gradient"], [-5, 29.43, 0, 10, 29.43, 0, -5, 29.43, 0]))'
  entries='dict(zip(zip(j["stiffness"]["rows"], j["stiffness"]["columns"]), j["stiffness"]["values"]))'
  json "$entries[0, 0] == -10 and $entries[0, 3] == 10 and $entries[3, 3] == -30 and $entries[6, 6] == -20"
  # Across a spring: -k (1 - l0 / l), which pushes away where it is compressed.
  json "$entries[1, 1] == -5 and $entries[7, 7] == 10 and j['stiffness']['size'] == 9 and len($entries) == 63"
  expect 0 hooke matrices s.json -o out.json --time 0.105 --set 'bodies[0].mass.per_vertex=2'
  silent out
  cp out.json out
  json 'abs(j["time"] - 0.105) < 1e-12 and j["mass"] == [2] * 9 and j["x"][4] < -0.01'
}

test_matrices_are_written_as_matrix_market() {
  pair s.json
  for matrix in K M gradient; do expect 0 hooke matrices s.json -o "$matrix.mtx" --matrix "$matrix"; done
  says K.mtx '%%MatrixMarket matrix coordinate real general'
  says K.mtx '9 9 63'
  grep -qx '1 1 -10' K.mtx
  grep -qx '4 4 -30' K.mtx
  says M.mtx '9 9 9'
  grep -qx '9 9 3' M.mtx
  says gradient.mtx '%%MatrixMarket matrix array real general'
  [ "$(wc -l <gradient.mtx)" = 12 ]
}

test_matrices_say_what_is_wrong() {
  pair s.json
  expect 2 hooke matrices s.json -o out.txt
  one_error 'neither .json nor .mtx'
  expect 3 hooke matrices s.json -o nowhere/out.json
  says err 'hooke: nowhere/out.json: cannot write'
  expect 3 hooke matrices nowhere.json
  expect 4 hooke matrices s.json -o out.json --set time.step=2 --time 2000
  [ ! -e out.json ]
}

test_unknown_mesh_ending_gets_the_list_of_formats() {
  printf '3\n0 0 0\n' >cloud.xyz
  for command in info run 'render -o a.png' matrices; do
    code=0
    # shellcheck disable=SC2086
    hooke $command cloud.xyz >out 2>err || code=$?
    if grep -q 'built without' err; then continue; fi
    [ "$code" = 1 ] || fail "hooke $command ended with $code"
    one_error 'cloud.xyz: is neither a scene'
    for format in $(hooke methods --json | python3 -c 'import json, sys
print(*[m["name"] for m in json.load(sys.stdin) if m["family"] == "mesh format"])'); do
      says err ".$format"
    done
  done
  # A scene may have any ending, and comments before it.
  { echo '// mine'; hooke scenes oscillator; } >my.scene
  expect 0 hooke info my.scene
  # A file called .json is meant to be a scene.
  cp cloud.xyz cloud.json
  expect 1 hooke info cloud.json
  one_error 'cloud.json:2:1: not valid JSON'
}

test_info_reads_poly_files() {
  printf '3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n2 0\n1 1 2\n2 2 3\n0\n' >a.poly
  expect 0 hooke info a.poly
  says out '3'
  expect 0 hooke convert a.poly a.obj
  says a.obj 'l 1 2'
  expect 1 hooke convert a.obj b.poly
  one_error "no mesh format that Hooke writes"
}
