# hooke bench: how long a step takes. The scene comes from compare_tests.sh.

test_bench_measures_every_integrator() {
  swing s.json
  expect 0 hooke methods --json
  json 'open("names", "w").write(" ".join(m["name"] for m in j if m["family"] == "integrator"))'
  expect 0 hooke bench s.json --json --steps 2
  silent err
  json 'set(open("names").read().split()) <= {m["method"] for m in j["methods"]}'
  json 'j["vertices"] == 20 and j["springs"] == 19 and j["pinned"] == 1'
  json 'j["compile_ms"] > 0 and j["model_bytes"] > 0 and j["state_bytes"] > 0'
  json 'j["read_bytes_per_second"] > 1e8 and j["copy_bytes_per_second"] > 1e8'
  json 'all(m["ms"] > 0 and m["first_ms"] > 0 and m["bytes"] > 0 and m["steps"] == 2 and m["spread_ms"] >= 0
    for m in j["methods"] if not m["message"])'
}

test_bench_takes_the_methods_that_are_asked_for() {
  swing s.json
  expect 0 hooke bench s.json --json --steps 3 --methods verlet,newton+ldlt,bdf2
  json '[m["method"] for m in j["methods"]] == ["verlet", "bdf2", "newton+ldlt"]'
  # The scene's own step where it is implicit, a stable one where it is explicit.
  json 'j["methods"][1]["step"] == 0.025 and j["methods"][2]["step"] == 0.025'
  json '0 < j["methods"][0]["step"] < 0.025'
  json 'all(m["steps"] == 3 and abs(m["simulated_per_second"] * m["ms"] / 1e3 / m["step"] - 1) < 1e-9
    for m in j["methods"])'
  expect 2 hooke bench s.json --methods verlet,newtom
  one_error "there is no 'newtom'; did you mean 'newton'?"
  expect 2 hooke bench s.json --methods ,
  one_error 'give one method or more'
}

test_bench_prints_a_table() {
  swing s.json
  expect 0 hooke bench s.json --steps 2 --methods verlet
  for text in 'vertices      20, 1 pinned' 'compile' 'bytes a vertex' 'GB/s' 'ms a step' 's per second'; do
    says out "$text"
  done
  grep -qE '^  verlet ' out
}

test_bench_goes_on_after_a_method_that_cannot() {
  swing s.json
  # Without any damping no step of forward_euler is stable.
  expect 0 hooke bench s.json --steps 2 --json --methods forward_euler,verlet
  json 'j["methods"][0]["ms"] is None and j["methods"][0]["message"] == "no step is stable"'
  json 'j["methods"][1]["ms"] > 0 and j["methods"][1]["message"] is None'
}

test_bench_ends_by_time() {
  swing s.json
  expect 0 hooke bench s.json --steps 10000 --seconds 0 --json --methods verlet
  json 'j["methods"][0]["steps"] == 1'
}

test_bench_says_what_is_wrong_with_a_scene() {
  expect 3 hooke bench nowhere.json
  one_error 'nowhere.json'
  swing s.json
  expect 1 hooke bench s.json --set 'bodies[0].springs.k=-1'
  expect 2 hooke bench s.json --steps 0
}
