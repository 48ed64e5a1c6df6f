"""hooke view from outside: files, tokens, origins, limits.

    python3 view_server.py HOOKE
"""
import json
import struct
import sys
import time

from view_client import Server, ask, receive, send


def check_files(server):
    assert server.get("/")[2] == b"<title>page</title>"
    status, head, body = server.get("/assets/a.js")
    assert status == 200 and b"text/javascript" in head and b"content-security-policy" in head
    assert json.loads(server.get("/engine.json")[2]) == {"socket": True, "load": {"builtin": "flag"}}
    for path in ["/.secret", "/../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd",
                 "/assets", "/assets/", "//etc/passwd", "/assets/../.secret", "/nothing"]:
        status, _, body = server.get(path)
        assert status == 404 and b"root:" not in body and b"secret" not in body, (path, status)


def check_doors(server):
    assert server.connect(token="0" * 32) is None
    assert server.connect(token="") is None
    assert server.connect(token=server.token + "0") is None
    assert server.connect(origin="http://evil.example") is None
    assert server.connect(origin="null") is None
    assert server.connect(host="evil.example") is None


def check_engine(server):
    s = server.connect()
    info = ask(s, id=1, ask="load", builtin="flag")
    assert info["id"] == 1 and info["vertices"] == 1426, info
    frame = ask(s, id=2, ask="frame", steps=10, color="strain")
    assert frame[:4] == b"HKFR" and len(frame) == 176 + 16 * 1426
    assert "error" in ask(s, id=3, ask="load", scene="{")
    assert "error" in ask(s, id=4, ask="nonsense")
    return s


def check_sizes(server, first):
    s = server.connect()
    mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" + b"#" * 300000
    send(s, struct.pack("<4sII", b"HKUT", 5, 5) + b"a.obj" + mesh, 2)
    assert json.loads(receive(s)[1])["name"] == "a.obj"
    assert ask(s, id=6, ask="load", file="a.obj")["vertices"] == 3
    try:  # one byte too many: the connection ends, and the server does not
        send(s, b"HKUT" + bytes(64 << 20), 2)
        assert receive(s)[0] == 8
    except (EOFError, OSError):
        pass
    s.close()
    assert ask(first, id=7, ask="frame", steps=1)[:4] == b"HKFR"


def check_crowd(server, first):
    crowd = [c for c in (server.connect() for _ in range(100)) if c]
    assert len(crowd) == 15, len(crowd)  # and the first one
    assert ask(first, id=8, ask="frame", steps=1)[:4] == b"HKFR"
    for c in crowd:
        c.close()
    for _ in range(100):  # and then there is room again
        c = server.connect()
        if c:
            break
        time.sleep(0.05)
    assert ask(c, id=9, ask="registry")["id"] == 9


def check_flood(first):
    """Many questions at once: as many answers, in their order."""
    for q in range(200):
        send(first, json.dumps({"id": q, "ask": "frame", "steps": 1}).encode())
    for q in range(200):
        data = receive(first)[1]
        assert data[:4] == b"HKFR" and struct.unpack("<I", data[4:8])[0] == q


def check_slow_reader(server, first):
    """Who asks and does not read makes no frames pile up, and keeps nobody else waiting."""
    s = server.connect()
    info = ask(s, id=1, ask="load", builtin="curtain",
               sets=["bodies[0].shape.nx=300", "bodies[0].shape.ny=300"])
    frame = len(ask(s, id=2, ask="frame", steps=1))
    assert info["vertices"] == 90000 and frame > 12 * 90000
    before = server.resident()
    for q in range(100):  # more than a hundred megabytes of answers
        send(s, json.dumps({"id": q, "ask": "frame", "steps": 1}).encode())
    end = time.monotonic() + 1
    while time.monotonic() < end:
        assert ask(first, id=10, ask="frame", steps=1)[:4] == b"HKFR"
        # Sanitizers keep memory that was freed for a while.
        assert server.resident() < before + 50 * frame, (before, server.resident(), frame)
        time.sleep(0.02)
    s.close()


def main():
    server = Server(sys.argv[1], "flag")
    try:
        check_files(server)
        check_doors(server)
        first = check_engine(server)
        check_sizes(server, first)
        check_crowd(server, first)
        check_flood(first)
        check_slow_reader(server, first)
    finally:
        code = server.stop()
    assert code == 130, code  # as every command that Ctrl-C ends
    print("hooke view: files, doors, sizes, crowds, floods and slow readers are as they should be")


main()
