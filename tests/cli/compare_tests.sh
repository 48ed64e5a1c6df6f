# hooke compare: one implicit step by every method.

# A chain that swings from one end, stiff enough that the methods differ; SECONDS of step.
swing() {
  cat >"$1" <<END
{"bodies": [{"shape": {"type": "chain", "n": 20, "end": [2, 0, 0]}, "springs": {"k": 500}, "mass": 1}],
 "pins": [{"select": "start"}], "forces": ["gravity"], "integrator": "backward_euler",
 "time": {"step": ${2:-0.025}, "frames_per_second": 10}}
END
}

test_compare_by_newton_reaches_the_solution() {
  swing s.json
  expect 0 hooke compare s.json --json --iterations 100
  silent err
  json 'j["step"] == 0.025 and j["steps"] == 10 and abs(j["time"] - 0.25) < 1e-12 and j["decrease"] > 0'
  json 'j["newton_error"] < 1e-12 and j["newton_gradient"] < 1e-12'
  json '{"newton+ldlt", "newton+pcg+ic0"} <= {m["method"] for m in j["methods"]}'
  # A build without CHOLMOD says so.
  json 'all(m["message"] is None or "built without" in m["message"] for m in j["methods"])'
  json 'all(m["error"] < 1e-12 for m in j["methods"] if m["method"].startswith("newton") and not m["message"])'
  json 'all(m["error"] <= m["errors"]["1"] <= 1 for m in j["methods"] if not m["message"])'
  # Newton gets to 1e-6 after 1e-4, and that after 1e-2.
  json 'all([g["iterations"] for g in m["goals"]] == sorted(g["iterations"] for g in m["goals"])
    for m in j["methods"] if m["method"].startswith("newton") and not m["message"])'
}

test_compare_has_every_minimizer() {
  swing s.json
  expect 0 hooke methods --json
  json 'open("names", "w").write(" ".join(m["name"] for m in j if m["family"] == "minimizer"))'
  expect 0 hooke compare s.json --json --iterations 3
  json 'set(open("names").read().split()) == {m["method"].split("+")[0] for m in j["methods"]}'
}

test_compare_prints_what_is_asked() {
  swing s.json
  expect 0 hooke compare s.json --step 2 --iterations 10 --methods newton+ldlt
  for text in 'vertices      20, 1 pinned' 'state         at 0.05 s, after 2 steps' 'step          0.025 s' \
    'newton+ldlt' 'Relative error' 'Iterations and milliseconds' 'ms an iteration'; do
    says out "$text"
  done
  grep -qE '^  newton\+ldlt .* (converged|stalled)$' out
  ! grep -q 'newton+cholesky' out
  ! grep -qE ' 100 ' out
}

test_compare_takes_a_thirtieth_where_the_scene_is_explicit() {
  swing s.json
  expect 0 hooke compare s.json --set integrator=verlet --set time.step=1e-4 --iterations 5 --json
  json 'abs(j["step"] - 1 / 30) < 1e-15'
  expect 0 hooke compare s.json --set integrator=verlet --iterations 5
  says out "the scene's own is that of verlet, which is explicit"
}

test_compare_rows_are_every_iteration() {
  swing s.json
  expect 0 hooke compare s.json --iterations 20 --csv all.csv
  cat >check.py <<'END'
import csv
rows = list(csv.DictReader(open("all.csv")))
assert list(rows[0]) == ["method", "iteration", "seconds", "relative_error", "gradient"], rows[0]
methods = {}
for row in rows:
    methods.setdefault(row["method"], []).append(row)
assert len(methods) > 3
for name, points in methods.items():
    assert [int(p["iteration"]) for p in points] == list(range(len(points))), name
    errors = [float(p["relative_error"]) for p in points]
    seconds = [float(p["seconds"]) for p in points]
    assert abs(errors[0] - 1) < 1e-12, (name, errors[0])
    assert seconds == sorted(seconds), name
    if name.startswith("newton"): # a line search lets no iteration go up
        assert all(b <= a + 1e-14 for a, b in zip(errors, errors[1:])), (name, errors)
END
  python3 check.py
}

test_compare_draws_every_method() {
  swing 'a<b&c.json'
  expect 0 hooke compare 'a<b&c.json' --iterations 20 --svg all.svg --json
  cat >check.py <<'END'
import json, xml.dom.minidom
svg = xml.dom.minidom.parse("all.svg")
texts = [t.firstChild.data for t in svg.getElementsByTagName("text") if t.firstChild]
methods = [m["method"] for m in json.load(open("out"))["methods"] if not m["message"]]
assert all(texts.count(m) == 1 for m in methods), texts
assert any("a<b&c" in t for t in texts)
paths = svg.getElementsByTagName("path")
assert len(paths) == 3 * len(methods), len(paths) # two panels and the legend
styles = [(p.getAttribute("stroke"), p.getAttribute("stroke-dasharray")) for p in paths[-len(methods):]]
assert len(set(styles)) == len(methods)
END
  python3 check.py
}

test_compare_near_miss_gets_a_suggestion() {
  swing s.json
  expect 2 hooke compare s.json --methods newton+ldtl
  one_error "did you mean 'newton+ldlt'?"
  expect 2 hooke compare s.json --methods newtn
  one_error "did you mean 'newton'?"
  expect 2 hooke compare s.json --methods ,
  one_error 'give one method or more'
  expect 3 hooke compare nothing.json
  one_error 'no such file'
}

test_compare_says_when_there_is_nothing_to_do() {
  swing s.json
  expect 0 hooke compare s.json --set 'pins[0].select=all' --svg none.svg
  says out 'nothing to compare'
  [ ! -e none.svg ]
  expect 0 hooke compare s.json --set 'pins[0].select=all' --json
  json 'j["methods"] == [] and j["decrease"] == 0'
  # At rest, without a force.
  expect 0 hooke compare s.json --set 'forces=[]'
  says out 'nothing to compare'
}

test_compare_names_a_blow_up() {
  swing s.json
  expect 4 hooke compare s.json --set time.energy_bound=1e-9
  one_error 's'
}

test_compare_knows_early_what_it_cannot_write() {
  swing s.json
  expect 3 hooke compare s.json --svg nowhere/all.svg
  one_error 'nowhere/all.svg: cannot write'
  silent out
  echo precious >all.csv
  expect 2 hooke compare s.json --csv all.csv --methods nothing_like_it
  [ "$(cat all.csv)" = precious ]
}

test_compare_stops_at_ctrl_c_with_what_there_is() {
  swing s.json
  # Several methods of a second or so: Newton's would be done too soon.
  slow=$(hooke methods --json | python3 -c 'import json, sys
print(",".join(m["name"] for m in json.load(sys.stdin) if m["family"] == "minimizer" and m["name"] != "newton"))')
  [ -n "$slow" ] || skip 'there is no slow method'
  "$HOOKE" compare s.json --set 'bodies[0].shape.n=3000' --step 0 --iterations 3000 --methods "$slow" \
    >out 2>err </dev/null &
  child=$!
  wait_sigint "$child" handle
  wait_for_work "$child" 20
  kill -INT "$child"
  code=0
  wait "$child" || code=$?
  [ "$code" = 130 ] || fail "ended with $code: $(cat out err)"
  says err 'stopped'
}

# A straight chain between two pins, pressed to half its length and pulled along itself: the straight
# solution of the step is a saddle point of g, and every buckled one is lower.
buckle() {
  cat >"$1" <<'JSON'
{"bodies": [{"shape": {"type": "chain", "n": 10, "end": [1, 0, 0]}, "springs": {"k": 500}, "mass": 1,
   "stretch": [0.5, 1, 1]}],
 "pins": [{"select": "start"}, {"select": "end"}], "forces": [{"type": "gravity", "direction": [1, 0, 0]}],
 "integrator": "backward_euler", "time": {"step": 0.1, "frames_per_second": 10}}
JSON
}

test_compare_finds_several_solutions_of_a_buckling_chain() {
  buckle s.json
  expect 0 hooke compare s.json --step 0 --methods newton+ldlt --json
  json 'j["solutions"] > 1 and any(r["solution"] > 0 and r["energy_difference"] < 0 and r["distance"] > 0.01
    for r in j["restarts"])'
  json 'j["restarts"][-1]["guess"] == "the perturbed solution"'
  expect 0 hooke compare s.json --step 0 --methods newton+ldlt
  says out 'The step has several solutions: '
  says out 'newton from the perturbed solution ends at another'
}

test_compare_is_silent_about_a_unique_solution() {
  swing s.json
  expect 0 hooke compare s.json --json --iterations 100
  json 'j["solutions"] == 1 and len(j["restarts"]) > 0 and all(r["solution"] == 0 for r in j["restarts"])'
  json 'all(m["solution"] in (0, None) and not m["negative_curvature"] for m in j["methods"])'
  expect 0 hooke compare s.json --iterations 100
  ! grep -qE 'several|another|indefinite|curvature' out
}

test_compare_over_time_has_every_integrator() {
  swing s.json
  expect 0 hooke methods --json
  json 'open("names", "w").write(" ".join(m["name"] for m in j if m["family"] == "integrator"))'
  expect 0 hooke compare s.json --over 0.5 --json --csv all.csv
  silent err
  json 'set(open("names").read().split()) == {m["method"] for m in j["methods"]}'
  json 'j["over"] == 0.5 and j["reference"]["state"] == "resolved" and j["reference"]["motion"] > 0.1'
  # The order of the methods is that of their errors, and second order is nearer than first order.
  json '(lambda e: e == sorted(e))([m["error"] for m in j["methods"] if not m["message"]])'
  json '(lambda e: e["rk4"] < 1e-6 and e["verlet"] < e["symplectic_euler"] and e["bdf2"] < e["backward_euler"])(
    {m["method"]: m["error"] for m in j["methods"]})'
  json 'all(m["error"] <= m["largest_error"] and m["step"] * m["steps"] > 0.4999 for m in j["methods"] if not m["message"])'
  json '[m["step"] for m in j["methods"] if m["method"] == "backward_euler"] == [0.025]'
  # Without damping no step of forward_euler is stable; implicit steps lose energy.
  json 'all("no stable step" in m["message"] for m in j["methods"] if m["method"] == "forward_euler")'
  json 'all(m["energy_difference"] < 0 for m in j["methods"] if m["method"] == "backward_euler")'
  json 'any(m["efficient"] for m in j["methods"])'
  [ "$(head -1 all.csv)" = 'method,step,steps,error,relative_error,largest_error,energy_difference,seconds,unconverged,stationary' ]
  [ "$(grep -c '' all.csv)" -gt 5 ]
}

test_compare_over_time_prints_table_and_conclusion() {
  swing s.json
  expect 0 hooke compare s.json --over 0.25 --methods backward_euler,verlet
  for text in 'reference     rk4' 'its error' 'backward_euler' 'verlet is the nearest to the reference' \
    'marks'; do
    says out "$text"
  done
  ! grep -q bdf2 out
  ! grep -q 'not resolved' out
}

# Two elastic pendulums, thrown: after some seconds neighboring motions are far apart.
test_compare_over_time_admits_chaos() {
  expect 0 hooke compare double_spring --over 60 --methods verlet,symplectic_euler --seconds 20 --json
  json 'j["reference"]["state"] != "resolved" or j["reference"]["error"] < j["methods"][0]["error"] / 9'
  expect 0 hooke compare double_spring --over 200 --methods verlet --seconds 20
  says out 'The reference is not resolved'
}

test_compare_over_time_refuses_long_references() {
  swing s.json
  expect 1 hooke compare s.json --over 100 --set 'bodies[0].springs.k=1e9' --seconds 0.5
  one_error 'give a shorter --over'
  silent out
}

test_compare_over_time_checks_its_options() {
  swing s.json
  expect 2 hooke compare s.json --over 1 --methods backward_eular
  one_error "did you mean 'backward_euler'?"
  expect 2 hooke compare s.json --over 1 --methods ,
  one_error 'give one integrator or more'
  expect 2 hooke compare s.json --over 1 --step 3
  one_error '--step is for the comparison of one step'
  expect 2 hooke compare s.json --over 1 --svg a.svg
  one_error '--svg is for the comparison of one step'
  expect 2 hooke compare s.json --over 0
  expect 3 hooke compare s.json --over 1 --csv nowhere/all.csv
  one_error 'nowhere/all.csv: cannot write'
}

test_compare_over_time_stops_at_ctrl_c() {
  swing s.json
  "$HOOKE" compare s.json --set 'bodies[0].shape.n=3000' --over 5 --seconds 1e6 >out 2>err </dev/null &
  child=$!
  wait_sigint "$child" handle
  wait_for_work "$child" 20
  kill -INT "$child"
  code=0
  wait "$child" || code=$?
  [ "$code" = 130 ] || fail "ended with $code: $(cat out err)"
  says err 'stopped'
}

test_compare_shows_progress_while_it_solves_the_reference() {
  python3 "$HERE/on_terminal.py" 80 "$HOOKE" compare curtain --step 0 --methods local_global+none \
    --iterations 5 --seconds 1 --set 'bodies[0].shape.nx=161' --set 'bodies[0].shape.ny=161' >out
  tr '\r' '\n' <out >lines
  grep -qE '^reference: iteration [0-9]+, gradient [0-9.e+-]+, [0-9]+ of 1 s' lines ||
    fail "no progress: $(head -c 2000 lines)"
  awk '/^reference:/ && length($0) > 80 {exit 1}' lines
}

test_compare_bounds_the_work_of_its_reference() {
  expect 0 hooke compare curtain --step 0 --methods local_global --iterations 5 --seconds 0.001
  tr '\n' ' ' <out >words
  says words 'The reference is not solved: --seconds 0.001 ended newton after'
  says words 'at a relative gradient of m = '
  expect 0 hooke compare curtain --step 0 --methods newton+ldlt,local_global+none --iterations 5 \
    --seconds 0.001 --json
  json 'j["newton_stopped"] == "time" and j["newton_iterations"] < 5 and (j["newton_gradient"] or 1) > 1e-14'
  json 'j["seconds"] == 0.001 and j["methods"][0]["stopped"] == "time"'
  # Without a limit that matters, nothing is said.
  expect 0 hooke compare oscillator --step 3 --methods newton
  ! grep -q 'not solved' out
}
