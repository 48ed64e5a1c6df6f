# hooke fit: numbers of a scene that lead to a recorded motion.

# A net that swings and turns; its probes are two corners.
fitted_net() {
  cat >"$1" <<'END'
{"bodies": [{"shape": {"type": "grid", "nx": 5, "ny": 5}, "springs": {"k": 20, "shear": true, "damping": 0.01}, "mass": 0.05,
             "velocity": [0, 0, 0.5], "spin": [3, 2, 1], "stretch": [1.1, 0.9, 1]}],
 "pins": [{"select": "top_left", "motion": {"type": "oscillation", "amplitude": [0, 0, 0.05], "frequency": 2}}],
 "forces": ["gravity", {"type": "wind", "velocity": [1, 0, 2], "drag": 0.02}], "integrator": "verlet",
 "probes": [{"name": "low, left", "select": "bottom_left"}, {"name": "right", "select": "right"}],
 "outputs": ["probes", "pc2"], "time": {"duration": 0.4, "step": 0.002, "frames_per_second": 50}}
END
}

# A Python expression about s, the scene that was found in a folder, and rows, those of loss.csv, is true.
fitted() {
  python3 -c 'import csv, json, math, sys
s = json.load(open(sys.argv[1] + "/scene.json"))
rows = list(csv.DictReader(open(sys.argv[1] + "/loss.csv")))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "not true: $2, of $(head -c 3000 "$1/scene.json")"
}

test_fit_finds_numbers_of_bodies_forces_and_pins() {
  fitted_net s.json
  expect 0 hooke run s.json --set 'bodies[0].springs.k=45' --set 'forces[1].velocity=[2,0.5,-1]' \
    --set 'pins[0].motion.amplitude=[0,0.02,0.08]' --set 'bodies[0].velocity=[0.3,0,0.2]' -o true -q
  expect 0 hooke fit s.json --target true/probes.csv -o found \
    --tolerance 1e-9 -p 'bodies[*].springs.k,forces[wind].velocity,pins[0].motion.amplitude,bodies[0].velocity'
  says out "converged after"
  fitted found 'abs(s["bodies"][0]["springs"]["k"] - 45) < 1e-3'
  fitted found 'math.dist(s["forces"][1]["velocity"], [2, 0.5, -1]) < 1e-3'
  fitted found 'math.dist(s["pins"][0]["motion"]["amplitude"], [0, 0.02, 0.08]) < 1e-4'
  fitted found 'math.dist(s["bodies"][0]["velocity"], [0.3, 0, 0.2]) < 1e-3'
  fitted found 'rows[0]["frames"] == "2" and rows[-1]["frames"] == "21" and float(rows[-1]["rms"]) < 1e-6'
  says found/report.html "bodies[*].springs.k"
}

test_fit_finds_every_spring_and_the_scene_that_it_writes_moves_as_the_target() {
  fitted_net s.json
  python3 - <<'END'
import math
n, rows = 5, []
for j in range(n):
    for i in range(n):
        for di, dj in ((1, 0), (0, 1), (1, 1), (-1, 1)):
            if 0 <= i + di < n and j + dj < n:
                rows.append((n * j + i, n * (j + dj) + i + di, 20 * math.exp(0.5 * math.sin(7 * len(rows)))))
open("true.csv", "w").write("".join("%d %d %.17g\n" % row for row in rows))
END
  expect 0 hooke run s.json --set 'bodies[0].springs.file=true.csv' -o true -q
  expect 0 hooke fit s.json --target true/mesh.pc2 -p springs.k -n 1000 --bounds springs.k=5,60 -o found
  python3 - <<'END'
true = {tuple(sorted(map(int, r.split()[:2]))): float(r.split()[2]) for r in open("true.csv")}
found = {tuple(sorted(map(int, r.split()[:2]))): float(r.split()[2]) for r in open("found/springs0.csv") if r[0] != "#"}
assert true.keys() == found.keys()
assert max(abs(found[s] / true[s] - 1) for s in true) < 0.01, max(abs(found[s] / true[s] - 1) for s in true)
END
  expect 0 hooke run found/scene.json -o again -q
  python3 - <<'END'
import csv
a, b = (list(csv.DictReader(open(name + "/probes.csv"))) for name in ("true", "again"))
assert len(a) == len(b) == 21
assert all(abs(float(p[c]) - float(q[c])) < 1e-5 for p, q in zip(a, b) for c in ("right.x", "right.y", "right.z"))
END
}

test_fit_takes_sightings_of_single_vertices_with_gaps() {
  fitted_net s.json
  expect 0 hooke run s.json --set 'bodies[0].mass=0.08' -o true -q
  python3 - <<'END'
import csv, struct
data = open("true/mesh.pc2", "rb").read()
points = struct.unpack("<i", data[16:20])[0]
with open("seen.csv", "w") as out:
    out.write("vertex,note,z,y,x,time\n# a comment\n\n")
    for k in range(1, 21):
        for v in (0, 7, 24):
            x, y, z = struct.unpack_from("<3f", data, 32 + 12 * (k * points + v))
            out.write('%d,"a, b",%s,%.9g,%.9g,%.4f\n' % (v, "" if (k + v) % 5 == 0 else "%.9g" % z, y, x, k / 50))
END
  expect 0 hooke fit s.json --target seen.csv -p 'bodies[0].mass.total' -o found
  fitted found 'abs(s["bodies"][0]["mass"]["total"] - 0.08) < 1e-5'
}

test_fit_has_the_same_bytes_for_any_number_of_threads() {
  fitted_net s.json
  expect 0 hooke run s.json --set 'bodies[0].springs.k=45' -o true -q
  expect 0 hooke fit s.json --target true/probes.csv -p springs.k,springs.damping -n 5 --threads 1 -o one -q
  expect 0 hooke fit s.json --target true/probes.csv -p springs.k,springs.damping -n 5 --threads 4 -o four -q
  silent out
  silent err
  cmp one/springs0.csv four/springs0.csv
}

test_fit_never_says_converged_where_the_target_cannot_be_reached_in_time() {
  fitted_net s.json
  expect 0 hooke run s.json --set 'bodies[0].springs.k=45' -o true -q
  expect 0 hooke fit s.json --target true/probes.csv -p springs.k -n 2 -o found
  says out "did not converge: the iterations are used up"
  expect 0 hooke fit s.json --target true/probes.csv -p 'bodies[0].springs.k' --bounds 'bodies[0].springs.k=10,30' -o held
  says out "1 of 1 numbers at a bound"
  fitted held 'abs(s["bodies"][0]["springs"]["k"] - 30) < 1e-9'
}

test_fit_stopped_by_ctrl_c_leaves_what_it_has_found() {
  fitted_net s.json
  expect 0 hooke run s.json --set 'bodies[0].springs.k=45' -o true -q
  start fit s.json --target true/mesh.pc2 -p springs.k,springs.l0,springs.damping -n 1000000 --tolerance 0 --at-once \
    --set time.step=0.0001 -o found
  wait_until test -e found/loss.csv
  kill -INT "$child"
  code=0
  wait "$child" || code=$?
  [ $code = 130 ] || fail "ended with $code: $(cat err)"
  says err "what was found is in found"
  says found/report.html "stopped before its end"
  expect 0 hooke run found/scene.json -o again -q
}

test_fit_refuses_what_makes_no_sense() {
  fitted_net s.json
  expect 0 hooke run s.json -o true -q
  fit() { hooke fit s.json --target true/probes.csv -o found "$@"; }
  expect 2 hooke fit s.json --target true/probes.csv
  one_error "--parameters"
  expect 2 hooke fit s.json -p springs.k
  one_error "--target"
  expect 2 fit -p springs.q
  one_error "is no path to a number"
  expect 2 fit -p 'bodies[0].springs.kk'
  one_error "did you mean 'k'?"
  expect 2 fit -p 'bodies[3].springs.k'
  one_error "no such place"
  expect 2 fit -p 'forces[0].g,forces[0].g'
  one_error "given twice"
  expect 1 fit -p 'bodies[0].springs.k_shear'
  one_error "no value to begin with"
  expect 2 fit -p springs.k --bounds springs.k=5
  one_error "NAME=MIN,MAX"
  expect 2 fit -p springs.k --bounds springs.l0=1,2
  one_error "no word of --parameters"
  expect 1 fit -p springs.k --bounds springs.k=50,60
  one_error "begins with 20"
  expect 1 fit -p 'forces[wind].gust_period' --set 'forces[1].gust=0.2'
  one_error "have no derivative by it"
  expect 1 fit -p springs.damping --set 'bodies[0].springs.damping=0'
  one_error "no spring is damped"
  expect 1 fit -p springs.k --set integrator=forward_euler --set time.step=1e-5
  one_error "forward_euler"
  expect 1 fit -p springs.k --set 'bodies[0].repair.weld=0'
  one_error "welds or drops vertices"
  expect 3 hooke fit s.json --target missing.csv -p springs.k -o found
  one_error "missing.csv"
  printf 'time,x\n0,1\n' >bad.csv
  expect 1 hooke fit s.json --target bad.csv -p springs.k -o found
  one_error "bad.csv:1: the header needs"
  printf 'time,vertex,x,y,z\n0.1,2,0,0,0\n0.2,25,0,0,0\n' >bad.csv
  expect 1 hooke fit s.json --target bad.csv -p springs.k -o found
  one_error "bad.csv:3: the scene has no such vertex"
  printf 'time,vertex,x,y,z\n0.1,2,0,nan,0\n0.2,2,0,zero,0\n' >bad.csv
  expect 1 hooke fit s.json --target bad.csv -p springs.k -o found
  one_error "bad.csv:3: is no number: zero"
  printf 'time,vertex,x,y,z\n0.1,2,0,0,0\n0.25,2,0,0,0\n' >bad.csv
  expect 1 hooke fit s.json --target bad.csv -p springs.k -o found
  one_error "no multiple of"
  head -c 1000 true/mesh.pc2 >cut.pc2
  expect 1 hooke fit s.json --target cut.pc2 -p springs.k -o found
  one_error "cut.pc2: sample 3 is missing"
  expect 0 fit -p springs.k -n 1 -q
  expect 3 fit -p springs.k -n 1
  one_error "--force replaces it"
  expect 0 fit -p springs.k -n 1 -q --force
}
