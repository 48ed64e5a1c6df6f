"""Reads back what the outputs vtp, vtu and contacts wrote, without any of Hooke's code.

Usage: readback_vtk.py PROGRAM, the program of test_output_content.c, which leaves in the folder
HOOKE_TEST_KEEP the files of several models, and beside them the values as text. .vtu files are read
by meshio and by the reader below (xml.etree, base64, numpy), .vtp and .pvd files by the latter.
Ends with 77, 'skipped', where meshio or numpy is not there.
"""
import base64
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

try:
    import meshio
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; Debian has it as python3-meshio")
    sys.exit(77)

POINT, LINE, TRIANGLE, QUAD, POLYGON, TET, PYRAMID, WEDGE, HEX = range(9)
VTK_TYPE = {LINE: 3, TRIANGLE: 5, POLYGON: 7, QUAD: 9, TET: 10, HEX: 12, WEDGE: 13, PYRAMID: 14}
FACES = (TRIANGLE, QUAD, POLYGON)
SOLID_EDGES = {
    TET: [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    PYRAMID: [(0, 1), (1, 2), (2, 3), (3, 0)] + [(q, 4) for q in range(4)],
    WEDGE: [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)] + [(q, q + 3) for q in range(3)],
    HEX: [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)]
    + [(q, q + 4) for q in range(4)],
}


class Expected:
    """The values that the C program wrote as text, and the cells that a file must have."""

    def __init__(self, path):
        self.points, self.springs, self.cells, self.boundary = [], [], [], []
        self.strain = {}
        for line in open(path):
            word, *rest = line.split()
            if word == "time":
                self.time = float(rest[0])
            elif word == "point":
                self.points.append([float(w) for w in rest])
            elif word == "spring":
                i, j, kind = (int(w) for w in rest[:3])
                self.springs.append((i, j, kind))
                self.strain[i, j] = float(rest[3])
            elif word == "cell":
                self.cells.append((int(rest[0]), [int(w) for w in rest[1:]]))
            elif word == "boundary":
                self.boundary.append([int(w) for w in rest])
        self.points = np.array(self.points)

    def mean_strain(self, kind, v):
        if kind == LINE:
            pairs = [(v[0], v[1])]
        elif kind in FACES:
            pairs = [(v[q - 1], v[q]) for q in range(len(v))]
        else:
            pairs = [(v[a], v[b]) for a, b in SOLID_EDGES[kind]]
        found = [self.strain[min(p), max(p)] for p in pairs if (min(p), max(p)) in self.strain]
        return sum(found) / len(found) if found else 0.0

    def rows(self, springs, solids, boundary):
        """(VTK type, vertices, kind, strain) of every cell in the order of the file."""
        rows = []
        if springs:
            rows += [(3, [i, j], kind, self.strain[i, j]) for i, j, kind in self.springs]
        else:
            rows += [(3, v, 4, self.mean_strain(t, v)) for t, v in self.cells if t == LINE]
        faces = [(t, v) for t, v in self.cells if t in FACES]
        faces += [(TRIANGLE, v) for v in boundary]
        rows += [(VTK_TYPE[t], v, 5, self.mean_strain(t, v)) for t, v in faces]
        if solids:
            rows += [
                (VTK_TYPE[t], v, 6, self.mean_strain(t, v))
                for t, v in self.cells
                if t in SOLID_EDGES
            ]
        return rows


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def read_array(tag):
    """One DataArray: base64 of a UInt64 count of bytes and of the values."""
    check(tag.get("format") == "binary", "arrays are inline base64")
    types = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}
    raw = base64.b64decode(tag.text.strip(), validate=True)
    check(int.from_bytes(raw[:8], "little") == len(raw) - 8, "the count of bytes fits the array")
    values = np.frombuffer(raw[8:], types[tag.get("type")])
    components = int(tag.get("NumberOfComponents", 1))
    check(len(values) == components * int(tag.get("NumberOfTuples")), "the count of tuples fits")
    return values.reshape(-1, components) if components > 1 else values


def read_vtk(path, kind):
    """Arrays by section/name, and the Piece's attributes."""
    root = ET.parse(path).getroot()
    check(root.tag == "VTKFile" and root.get("type") == kind, f"{path} is {kind}")
    check(root.get("byte_order") == "LittleEndian", "little endian")
    check(root.get("header_type") == "UInt64", "UInt64 headers")
    arrays = {
        f"{section.tag}/{tag.get('Name')}": read_array(tag)
        for section in [*root.find(kind).findall("FieldData"), *root.find(f"{kind}/Piece")]
        for tag in section
    }
    return arrays, root.find(f"{kind}/Piece").attrib


def cells_of(arrays, section):
    offsets = arrays[f"{section}/offsets"]
    return [list(part) for part in np.split(arrays[f"{section}/connectivity"], offsets)][:-1]


def compare(arrays, expected, rows, cells, precise, path):
    tolerance = 1e-15 if precise else 1e-6
    real = np.float64 if precise else np.float32
    names = {"Points/Points": 0, "PointData/velocity": 3, "PointData/force": 6}
    for name, column in names.items():
        check(arrays[name].dtype == real, f"{path}: {name} has the width that was asked for")
        same = np.array_equal(arrays[name], expected.points[:, column : column + 3].astype(real))
        check(same, f"{path}: {name}")
    check(cells == [row[1] for row in rows], f"{path}: cells")
    check(list(arrays["CellData/kind"]) == [row[2] for row in rows], f"{path}: kind")
    strain = np.array([row[3] for row in rows])
    check(strain.shape == arrays["CellData/strain"].shape, f"{path}: a strain for each cell")
    difference = np.abs(arrays["CellData/strain"] - strain).max(initial=0)
    check(difference <= tolerance, f"{path}: strain is off by {difference}")
    check(arrays["FieldData/TimeValue"][0] == expected.time, f"{path}: time")


def check_vtp(folder, k, expected, springs, precise):
    path = os.path.join(folder, f"vtp/frame_{k:06d}.vtp")
    arrays, piece = read_vtk(path, "PolyData")
    # The boundary stands in for the faces of the second body of the zoo.
    zoo = "zoo" in folder
    rows = expected.rows(springs, False, [v for v in expected.boundary if zoo and v[0] >= 6])
    lines, polys = cells_of(arrays, "Lines"), cells_of(arrays, "Polys")
    check(len(lines) == int(piece["NumberOfLines"]), f"{path}: number of lines")
    check(len(polys) == int(piece["NumberOfPolys"]), f"{path}: number of polys")
    check(len(expected.points) == int(piece["NumberOfPoints"]), f"{path}: number of points")
    compare(arrays, expected, rows, lines + polys, precise, path)


def check_vtu(folder, k, expected, springs, precise):
    path = os.path.join(folder, f"vtu/frame_{k:06d}.vtu")
    arrays, piece = read_vtk(path, "UnstructuredGrid")
    rows = expected.rows(springs, True, [])
    cells = cells_of(arrays, "Cells")
    check(len(cells) == int(piece["NumberOfCells"]), f"{path}: number of cells")
    check(list(arrays["Cells/types"]) == [row[0] for row in rows], f"{path}: types")
    compare(arrays, expected, rows, cells, precise, path)

    mesh = meshio.read(path)
    blocks = [list(cell) for block in mesh.cells for cell in block.data]
    # meshio turns wedges over, from the order of VTK up to 9.5 to that of Gmsh.
    for block, row in zip(blocks, rows):
        if row[0] == VTK_TYPE[WEDGE]:
            block[1:6] = block[2], block[1], block[3], block[5], block[4]
    seen = {
        "Points/Points": mesh.points,
        "PointData/velocity": mesh.point_data["velocity"],
        "PointData/force": mesh.point_data["force"],
        "CellData/kind": np.concatenate(mesh.cell_data["kind"]),
        "CellData/strain": np.concatenate(mesh.cell_data["strain"]),
        "FieldData/TimeValue": mesh.field_data["TimeValue"],
    }
    compare(seen, expected, rows, blocks, precise, path + " by meshio")


# Name, first column of the text, number of columns.
CONTACT_ARRAYS = {
    "Points/Points": (0, 3),
    "PointData/normal": (3, 3),
    "PointData/friction": (6, 3),
    "PointData/gap": (9, 1),
    "PointData/normal_force": (10, 1),
    "PointData/body": (11, 1),
    "PointData/other_kind": (12, 1),
    "PointData/other": (13, 1),
    "PointData/split": (14, 1),
    "PointData/vertices": (15, 4),
    "PointData/weights": (19, 4),
}


def compare_contacts(arrays, expected, path):
    for name, (first, count) in CONTACT_ARRAYS.items():
        wanted = expected[:, first] if count == 1 else expected[:, first : first + count]
        check(np.array_equal(arrays[name], wanted), f"{path}: {name}")
    force = expected[:, 10:11] * expected[:, 3:6] + expected[:, 6:9]
    check(np.array_equal(arrays["PointData/force"], force), f"{path}: force")


def check_contacts(folder, k, time):
    path = os.path.join(folder, f"contacts/frame_{k:06d}.vtu")
    arrays, piece = read_vtk(path, "UnstructuredGrid")
    lines = open(os.path.join(folder, f"contacts_{k}.txt")).readlines()
    expected = np.array([[float(w) for w in line.split()] for line in lines]).reshape(-1, 23)
    count = len(expected)
    check(count == 3 * k == int(piece["NumberOfPoints"]), f"{path}: number of contacts")
    check(int(piece["NumberOfCells"]) == count, f"{path}: number of cells")
    check(cells_of(arrays, "Cells") == [[q] for q in range(count)], f"{path}: cells")
    check(list(arrays["Cells/types"]) == [1] * count, f"{path}: types")
    check(arrays["FieldData/TimeValue"][0] == time, f"{path}: time")
    compare_contacts(arrays, expected, path)
    if count:  # meshio 5.0 does not read a file without points
        mesh = meshio.read(path)
        seen = {f"PointData/{name}": value for name, value in mesh.point_data.items()}
        compare_contacts(seen | {"Points/Points": mesh.points}, expected, path + " by meshio")
    frame, _ = read_vtk(os.path.join(folder, f"vtu/frame_{k:06d}.vtu"), "UnstructuredGrid")
    same = np.array_equal(frame["PointData/contact_force"], frame["PointData/force"])
    check(same, f"{folder}: contact_force of frame {k}")


def check_pvd(folder, name, times, ending=None):
    root = ET.parse(os.path.join(folder, f"{name}.pvd")).getroot()
    check(root.get("type") == "Collection", "a .pvd is a Collection")
    found = [(float(d.get("timestep")), d.get("file")) for d in root.find("Collection")]
    wanted = [(t, f"{name}/frame_{k:06d}.{ending or name}") for k, t in enumerate(times)]
    check(found == wanted, f"{folder}: {name}.pvd lists {found}")
    for _, file in found:
        check(os.path.exists(os.path.join(folder, file)), f"{file} is there")


def main():
    with tempfile.TemporaryDirectory() as root:
        environment = dict(os.environ, HOOKE_TEST_KEEP=root)
        done = subprocess.run([sys.argv[1], "vtk_files_for_readback"], env=environment)
        check(done.returncode == 0, "the files are written")
        names = sorted(os.listdir(root))
        check(len(names) == 8, "eight models are written")
        for name in names:
            folder = os.path.join(root, name)
            _, width, lines = name.split("_")
            frames = [Expected(os.path.join(folder, f"expected_{k}.txt")) for k in range(3)]
            for k, expected in enumerate(frames):
                check_vtp(folder, k, expected, lines == "springs", width == "precise")
                check_vtu(folder, k, expected, lines == "springs", width == "precise")
            for kind in ("vtp", "vtu"):
                check_pvd(folder, kind, [e.time for e in frames])
            print(f"ok      {name}")


def main_of_contacts():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOOKE_TEST_KEEP=folder)
        done = subprocess.run([sys.argv[1], "contact_files_for_readback"], env=environment)
        check(done.returncode == 0, "the files of contacts are written")
        times = [0.1 * k for k in range(3)]
        for k, time in enumerate(times):
            check_contacts(folder, k, time)
        check_pvd(folder, "contacts", times, "vtu")
        print("ok      contacts")


main()
main_of_contacts()
