"""The program on ranks: mpirun -n N hooke run SCENE --device petsc.

Usage: run_test.py HOOKE MPIRUN..., with mpirun's options. Ends with 1, and says why, if a check
fails.
"""

import base64
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from pathlib import Path

HOOKE = sys.argv[1]
MPIRUN = sys.argv[2:]
SECONDS = 120  # a hang is a failure

FORMATS = {"Float32": "f", "Float64": "d", "Int32": "i", "Int64": "q", "UInt8": "B"}
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print("FAILED:", text, flush=True)


def settings(duration=0.2, outputs=("energies",), step="1e-4"):
    words = ["integrator=symplectic_euler", f"time.step={step}", f"time.duration={duration}",
             "outputs=[" + ",".join(f'"{o}"' if o[0] != "{" else o for o in outputs) + "]"]
    return [word for setting in words for word in ("--set", setting)]


def command(ranks, scene, folder, *words):
    """The command line for so many ranks, or for one process without any where ranks is 0."""
    line = [HOOKE, "run", scene, "-o", str(folder), *words]
    return [*MPIRUN, "-n", str(ranks), *line, "--device", "petsc"] if ranks else line


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(ranks, scene, folder, *words, code=0, env=None):
    """Runs to the end; returns what was printed."""
    done = subprocess.run(command(ranks, scene, folder, *words), env={**environment(), **(env or {})},
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    good = done.returncode == code if code is not None else done.returncode != 0
    check(good, f"{ranks} ranks, {scene} {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def complaints(text):
    return [line for line in text.splitlines() if line.startswith("hooke: ")]


def rows(path):
    lines = path.read_text().splitlines()
    return lines[0], [[float(value) for value in line.split(",")] for line in lines[1:]]


def check_rows(one, two, tolerance, what):
    """Tables with the same columns, whose values differ by a part of the largest of each column."""
    (head, a), (other_head, b) = rows(one), rows(two)
    check(head == other_head and len(a) == len(b), f"{what}: {len(a)} and {len(b)} rows, {head}")
    for column in range(len(a[0]) if a else 0):
        # A column that is 0 but for rounding has no size of its own.
        size = max(1e-5, *(abs(row[column]) for row in a + b))
        most = max(abs(p[column] - q[column]) for p, q in zip(a, b))
        check(most <= tolerance * size, f"{what}: column {head.split(',')[column]}: {most}")


def array_of(piece, name):
    for array in piece.iter("DataArray"):
        if array.get("Name") == name:
            data = base64.b64decode(array.text.strip())
            kind = FORMATS[array.get("type")]
            count = struct.unpack_from("<Q", data)[0] // struct.calcsize(kind)
            return struct.unpack_from(f"<{count}{kind}", data, 8)
    return None


def pieces_of(folder, kind, frame):
    """The pieces of a frame, as XML."""
    listed = xml.parse(folder / kind / f"frame_{frame:06d}.p{kind}").getroot()
    check(listed.get("type") in ("PUnstructuredGrid", "PPolyData"), f"p{kind}: its type")
    names = [piece.get("Source") for piece in listed.iter("Piece")]
    roots = [xml.parse(folder / kind / name).getroot() for name in names]
    declared = {array.get("Name") for array in listed.iter("PDataArray")}
    for root in roots:
        for section in ("PointData", "CellData"):
            for array in root.find(f".//{section}"):
                check(array.get("Name") in declared, f"p{kind}: {array.get('Name')} is not declared")
    return roots


def cells_of(root, names=None):
    """The cells of a file as tuples of vertices, and their strains and kinds."""
    cells = []
    for section in root.iter():
        if section.tag not in ("Cells", "Lines", "Polys"):
            continue
        corners, begin = array_of(section, "connectivity"), 0
        for end in array_of(section, "offsets"):
            cell = corners[begin:end]
            cells.append(tuple(names[v] for v in cell) if names else cell)
            begin = end
    return list(zip(cells, array_of(root, "kind"), array_of(root, "strain")))


def check_pieces(folder, whole, kind, frame):
    """All pieces together are the file of one process: each cell and each vertex once."""
    reference = xml.parse(whole / kind / f"frame_{frame:06d}.{kind}").getroot()
    x, v = array_of(reference, "Points"), array_of(reference, "velocity")
    force = array_of(reference, "force")
    size = max(abs(value) for value in force) or 1
    seen, cells = set(), []
    for root in pieces_of(folder, kind, frame):
        numbers, ghosts = array_of(root, "number"), array_of(root, "vtkGhostType")
        own = {n for n, ghost in zip(numbers, ghosts) if not ghost}
        check(not (own & seen), f"{kind}: vertices of several pieces")
        seen |= own
        for name, values in (("Points", x), ("velocity", v), ("force", force)):
            mine = array_of(root, name)
            limit = 1e-6 * size if name == "force" else 0
            far = sum(abs(mine[3 * k + c] - values[3 * n + c]) > limit
                      for k, n in enumerate(numbers) for c in range(3))
            check(far == 0, f"{kind}: {far} values of {name} differ")
        cells += cells_of(root, numbers)
    check(seen == set(range(len(x) // 3)), f"{kind}: {len(seen)} of {len(x) // 3} vertices")
    expected = cells_of(reference)
    check(sorted(c[:2] for c in cells) == sorted(c[:2] for c in expected),
          f"{kind}: {len(cells)} cells, expected {len(expected)}")
    strains = {c[:2]: c[2] for c in expected}
    far = sum(abs(c[2] - strains.get(c[:2], math.inf)) > 1e-6 for c in cells)
    check(far == 0, f"{kind}: {far} strains differ")


def check_readable(folder):
    """meshio reads the pieces, where it is installed."""
    try:
        import meshio
    except ImportError:
        return
    for piece in sorted((folder / "vtu").glob("frame_000001_*.vtu")):
        mesh = meshio.read(piece)
        check("strain" in mesh.cell_data and "number" in mesh.point_data, f"meshio: {piece}")


def same_bytes(one, two, *names):
    for name in names:
        check((one / name).read_bytes() == (two / name).read_bytes(), f"{name} differs: {one} {two}")


def state_of(folder):
    return (folder / "checkpoint").read_bytes()


# ---- Tests -----------------------------------------------------------------------------------------


def outputs_are_those_of_one_process(place):
    outputs = ("energies", "solver", "probes", "reactions", "vtu", "vtp")
    for scene in ("flag", "jelly_block", "net"):
        words = settings(0.1, outputs)
        run(0, scene, place / f"{scene}1", *words)
        run(3, scene, place / f"{scene}3", *words)
        one, three = place / f"{scene}1", place / f"{scene}3"
        check_rows(one / "energies.csv", three / "energies.csv", 1e-10, f"{scene}: energies")
        check_rows(one / "probes.csv", three / "probes.csv", 1e-10, f"{scene}: probes")
        check_rows(one / "reactions.csv", three / "reactions.csv", 1e-9, f"{scene}: reactions")
        same_bytes(one, three, "solver.csv")
        for kind in ("vtu", "vtp"):
            check_pieces(three, one, kind, 2)
            text = (three / f"{kind}.pvd").read_text()
            check(text.count(f".p{kind}") == 4, f"{kind}.pvd lists the frames")
        check_readable(three)


def check_same_lines(one, two):
    """OBJ files with the same vertices in the same order, and the same lines f and l in any."""
    a, b = one.read_text().splitlines(), two.read_text().splitlines()
    vertices = [line for line in a if line[0] == "v"]
    check([line for line in b if line[0] == "v"] == vertices, f"{two}: vertices")
    check(sorted(a) == sorted(b), f"{two}: faces and lines")


def pc2_and_obj_are_those_of_one_process(place):
    beads = ('{"bodies": [{"mesh": "beads.obj", "springs": {"k": 50}}], "time": {"duration": 0.1}, '
             '"dimension": 3, "forces": ["gravity"]}')
    (place / "beads.obj").write_text("".join(f"v {k} 0 {k * k}\n" for k in range(9)) +
                                     "l 1 2 3 4\nl 6 7\n")
    (place / "beads.json").write_text(beads)
    for scene in ("flag", "jelly_block", "net", str(place / "beads.json")):
        words = settings(0.1, ("pc2", "obj"))
        one, three = place / f"{Path(scene).stem}1", place / f"{Path(scene).stem}3"
        run(0, scene, one, *words)
        run(3, scene, three, *words)
        same_bytes(one, three, "mesh.pc2")
        check_same_lines(one / "mesh.obj", three / "mesh.obj")
        check_same_lines(one / "obj/frame_000002.obj", three / "obj/frame_000002.obj")


def wait_for_rows(process, path, count):
    """Waits until so many lines are there; false if the run ends before."""
    until = time.time() + SECONDS
    while time.time() < until and process.poll() is None:
        if path.exists() and path.read_text().count("\n") >= count:
            return True
        time.sleep(0.01)
    return False


def start(ranks, scene, folder, *words):
    return subprocess.Popen(
        command(ranks, scene, folder, *words), env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


LONG = settings(3, ("energies", "vtu", "probes"), "5e-5")


def reference(place):
    run(2, "flag", place, *LONG)
    return place


def interrupted_runs_go_on_with_other_numbers_of_ranks(place, whole):
    """Ctrl-C, then kill -9 of a rank, then the rest: 4, 2 and 3 ranks."""
    folder = place / "out"
    process = start(4, "flag", folder, *LONG)
    check(wait_for_rows(process, folder / "energies.csv", 6), "4 ranks: rows")
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=SECONDS)
    check(process.returncode != 0, f"Ctrl-C: exit code {process.returncode}")
    check(text.count("stopped at frame") == 1, f"Ctrl-C: {text}")
    check("mpirun -n 4 hooke run flag" in text and "--device petsc --resume" in text,
          f"how to go on: {text}")
    rows = (folder / "energies.csv").read_text().count("\n")
    process = start(2, "flag", folder, *LONG, "--resume", "--checkpoint", "0")
    check(wait_for_rows(process, folder / "energies.csv", rows + 10), "2 ranks: rows")
    ranks = [child for child in children(process.pid) if "hooke" in
             Path(f"/proc/{child}/cmdline").read_text().split("\0")[0]]
    check(len(ranks) == 2, f"2 ranks: {ranks}")
    os.kill(ranks[-1], signal.SIGKILL)
    process.communicate(timeout=SECONDS)
    check(process.returncode != 0, "kill -9: exit code")
    run(3, "flag", folder, *LONG, "--resume")
    check_rows(folder / "energies.csv", whole / "energies.csv", 1e-9, "4, 2, 3 ranks")
    check_rows(folder / "probes.csv", whole / "probes.csv", 1e-9, "4, 2, 3 ranks")
    same_bytes(folder, whole, "vtu.pvd")
    lines = (folder / "checksums").read_text().splitlines()
    names = {line.split()[2] for line in lines}
    check(len(names) == len(lines), "checksums: each file once")
    check(all((folder / name).exists() for name in names), "checksums: the files are there")
    there = {f"vtu/{file.name}" for file in (folder / "vtu").iterdir()}
    check(there == names, f"files without checksum: {sorted(there - names)[:5]}")


def a_resumed_run_has_the_bytes_of_one_without_interruption(place, whole):
    folder = place / "out"
    process = start(2, "flag", folder, *LONG)
    check(wait_for_rows(process, folder / "energies.csv", 9), "rows")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=SECONDS)
    run(2, "flag", folder, *LONG, "--resume")
    same_bytes(folder, whole, "energies.csv", "probes.csv", "checksums", "vtu.pvd")
    check(state_of(folder) == state_of(whole), "the last checkpoint differs")


def damage_is_noticed_by_all_ranks(place):
    words = settings(0.2)
    folder = place / "out"
    run(3, "flag", folder, *words)
    good = state_of(folder)
    longer = settings(0.3)
    cases = {"a flipped byte": bytearray(good), "a shorter file": good[:-1000], "no content": b"",
             "a flipped counter": bytearray(good)}
    cases["a flipped byte"][len(good) // 2] ^= 1
    cases["a flipped counter"][60] ^= 1
    previous = (folder / "checkpoint.previous").read_bytes()
    for name, content in cases.items():
        (folder / "checkpoint").write_bytes(content)
        (folder / "checkpoint.previous").write_bytes(previous)
        _, text = run(2, "flag", folder, *longer, "--resume")
        check(text.count("goes back to the checkpoint before") == 1, f"{name}: {text}")
        for file in ("checkpoint", "checkpoint.previous"):
            (folder / file).write_bytes(content)
        _, text = run(2, "flag", folder, *longer, "--resume", code=None)
        check(len(complaints(text)) == 1, f"{name}: {text}")


def errors_are_printed_once(place):
    words = settings(0.1, ("energies", "vtu"))
    full = place / "full"
    full.mkdir()
    (full / "energies.csv").symlink_to("/dev/full")
    _, text = run(3, "flag", full, *words, "--force", code=None)
    check(len(complaints(text)) == 1 and "energies.csv" in text, f"full disk: {text}")
    small = place / "small.sh"  # the checkpoint needs 70 KB; messages of MPI are no files
    small.write_text(f'ulimit -f 60; exec "{HOOKE}" "$@"\n')
    line = [*[w.replace("vader", "tcp") for w in MPIRUN], "-n", "2", "bash", str(small), "run", "flag",
            "-o", str(place / "small"), *settings(0.1), "--device", "petsc"]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    check(done.returncode == 3 and len(complaints(done.stderr)) == 1 and
          "checkpoint.tmp: cannot write: File too large" in done.stderr, f"limit: {done.stderr}")
    blocked = place / "blocked"
    (blocked / "vtu" / "frame_000001_0002.vtu.tmp" / "x").mkdir(parents=True)
    _, text = run(3, "flag", blocked, *words, "--force", code=None)
    check(len(complaints(text)) == 1 and "frame_000001_0002.vtu" in text, f"one rank fails: {text}")
    file = place / "file"
    file.write_text("")
    _, text = run(3, "flag", file / "out", *words, code=None)
    check(len(complaints(text)) == 1, f"no folder: {text}")
    for scene, more, named in (("nosuch", [], "nosuch"), ("flag", ["--set", "bodies[0].mass=-1"], "mass"),
                               ("flag", ["--set", 'outputs=["contacts"]'], "contacts"),
                               ("flag", ["--set", 'outputs=[{"type":"reactions","each":"vertex"}]'],
                                "reactions"),
                               ("flag", ["--report"], "--report")):
        _, text = run(2, scene, place / "none", *settings(), *more, code=None)
        check(len(complaints(text)) == 1 and named in text, f"{named}: {text}")
    run(2, "flag", place / "twice", *settings(0.1))
    _, text = run(2, "flag", place / "twice", *settings(0.1), code=None)
    check(len(complaints(text)) == 1 and "holds a run already" in text, f"a second run: {text}")


def blow_ups_name_the_vertex_of_the_whole_model(place):
    # Beyond this bound after the first step, while all numbers are finite.
    words = [*settings(0.1), "--set", "time.energy_bound=1e-12"]
    _, one = run(0, "flag", place / "one", *words, code=4)
    _, text = run(3, "flag", place / "three", *words, code=None)
    check(len(complaints(text)) == 1 and "blew up" in text, f"a blow-up: {text}")
    vertex = one.split("it began at vertex ")[1].split(",")[0]
    check(f"it began at vertex {vertex}," in text, f"vertex {vertex}: {text}")
    words = settings(0.1, ("energies",), "5e-3")
    _, text = run(3, "flag", place / "unstable", *words, code=None)
    check("is stable at the start" in text and "mpirun -n 3" in text, f"a way out: {text}")
    run(2, "flag", place / "halved", *words, "--on-blowup", "halve")


def words_behind_two_dashes_are_options_of_petsc(place):
    log = place / "log.txt"
    line = [*command(2, "flag", place / "out", *settings(0.1)), "--", "-log_view", f":{log}"]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    check(done.returncode == 0 and log.exists(), f"-log_view: {done.stderr}")
    _, text = run(0, "flag", place / "none", "--", "-log_view", code=2)
    check("--device petsc" in text, f"options of PETSc without it: {text}")


def one_rank_needs_no_mpirun(place):
    line = [*command(0, "flag", place / "out", *settings(0.1)), "--device", "petsc", "--json"]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    check(done.returncode == 0 and '"ranks": 1' in done.stdout, f"one rank: {done.stderr}")
    out, _ = run(2, "flag", place / "two", *settings(0.1), "--json", "--quiet")
    check(out.count('"status"') == 1 and '"vertices": 1426' in out, f"JSON once: {out}")


def without_the_plug_in_one_sentence_names_the_way_out(place):
    alone = place / "hooke"
    shutil.copy(HOOKE, alone)
    for starter in ([], [*MPIRUN, "-n", "2"]):
        done = subprocess.run([*starter, str(alone), "run", "flag", "--device", "petsc"],
                              env={**environment(), "HOOKE_PLUGINS": str(place)},
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        said = complaints(done.stderr)
        check(done.returncode != 0 and len(said) == 1 and "make petsc" in said[0],
              f"without plug-in: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tests = [outputs_are_those_of_one_process, pc2_and_obj_are_those_of_one_process,
                 damage_is_noticed_by_all_ranks, errors_are_printed_once,
                 blow_ups_name_the_vertex_of_the_whole_model,
                 words_behind_two_dashes_are_options_of_petsc, one_rank_needs_no_mpirun,
                 without_the_plug_in_one_sentence_names_the_way_out,
                 interrupted_runs_go_on_with_other_numbers_of_ranks,
                 a_resumed_run_has_the_bytes_of_one_without_interruption]
        chosen = os.environ.get("RUN_TEST", "")
        whole = None
        for test in tests:
            if chosen not in test.__name__:
                continue
            print(test.__name__, flush=True)
            own = place / test.__name__
            own.mkdir()
            if test.__code__.co_argcount == 2:
                whole = whole or reference(place / "whole")
                test(own, whole)
            else:
                test(own)
    return 1 if failures else 0


sys.exit(main())
