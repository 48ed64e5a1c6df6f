"""picture.py FILE [EXPRESSION]: looks at a PNG that `hooke render` made.

An expression is about width, height, p (rows of pixels, each red, green, blue) and

    things    pixels, as (x, y), that are neither background nor shadow on it
    share     their part of the picture
    box       left, top, right, bottom of them, as parts of the picture
    colors   how many clearly different colors they have

The exit status says whether it is true. Without one all of these are printed.
"""
import struct
import sys
import zlib


def read(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            assert (depth, color, interlaced) == (8, 2, 0)
        if kind == b"IDAT":
            packed += chunk
        at += 12 + length
    return width, height, unfilter(zlib.decompress(packed), width, height)


def paeth(a, b, c):
    pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(raw, width, height):
    stride, rows, above = 3 * width, [], bytes(3 * width)
    for y in range(height):
        start = y * (stride + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for q in range(stride if kind else 0):
            left, up = line[q - 3] if q >= 3 else 0, above[q]
            corner = above[q - 3] if q >= 3 else 0
            line[q] = (line[q] + (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]) & 255
        rows.append([tuple(line[q:q + 3]) for q in range(0, stride, 3)])
        above = bytes(line)
    return rows


def is_background(pixel):
    """Light, hardly colored: the ground with a shadow on it, too."""
    return min(pixel) > 135 and max(pixel) - min(pixel) < 16


width, height, p = read(sys.argv[1])
things = [(x, y) for y in range(height) for x in range(width) if not is_background(p[y][x])]
share = len(things) / (width * height)
box = (0, 0, 0, 0)
if things:
    xs, ys = [t[0] for t in things], [t[1] for t in things]
    box = (min(xs) / width, min(ys) / height, (max(xs) + 1) / width, (max(ys) + 1) / height)
colors = len({tuple(c // 32 for c in p[y][x]) for x, y in things})
if len(sys.argv) > 2:
    sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)
print("%d x %d, share %.4f, box %.2f %.2f %.2f %.2f, %d colors" % (width, height, share, *box, colors))
