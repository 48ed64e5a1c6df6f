"""hooke view from outside: files, tokens, origins, addresses, limits.

    python3 view_server.py HOOKE
"""
import glob
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
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
    for _ in range(100):  # until a session is free again
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


def check_no_protocol(server, first):
    """WebSockets without the subprotocol, which any web page can open, leave the server free."""
    crowd = [server.connect(token="", origin="http://evil.example", protocol="") for _ in range(300)]
    assert not any(crowd), "a WebSocket without the subprotocol is let in"
    s = server.connect()
    assert s is not None
    s.close()
    assert ask(first, id=11, ask="frame", steps=1)[:4] == b"HKFR"


def check_own_files(server):
    """Concurrent saves return each its own scene, and sessions do not see each other's files."""
    count, rounds = 8, 20
    names = ["curtain", "net", "curve", "trampoline"]
    sessions = [server.connect() for _ in range(count)]
    sizes = [ask(s, id=1, ask="load", builtin=names[q % 4])["vertices"] for q, s in enumerate(sessions)]
    wrong = []

    def save(q):
        for _ in range(rounds):
            saved = ask(sessions[q], id=2, ask="save", what="state")
            if not isinstance(saved, bytes) or len(saved) != 8 + 48 * sizes[q]:
                wrong.append((q, saved if isinstance(saved, dict) else len(saved)))

    threads = [threading.Thread(target=save, args=(q,)) for q in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, (len(wrong), wrong[:3])
    send(sessions[0], struct.pack("<4sII", b"HKUT", 5, 5) + b"b.obj" + b"v 0 0 0\nv 1 0 0\nl 1 2\n", 2)
    assert json.loads(receive(sessions[0])[1])["name"] == "b.obj"
    assert ask(sessions[0], id=3, ask="load", file="b.obj")["vertices"] == 2
    assert "error" in ask(sessions[1], id=3, ask="load", file="b.obj")
    for s in sessions:
        s.close()


def check_paths(server, outside):
    """The files of the machine are out of reach of who has the token."""
    s = server.connect()
    up = "../" * 12 + outside.lstrip("/")
    for name in [outside, up, "a/../" + up]:
        for text in [{"mesh": name}, {"shape": {"type": "grid"}, "springs": {"k": 1, "file": name}}]:
            answer = ask(s, id=1, ask="load", scene=json.dumps({"bodies": [text]}), name="s")
            assert "outside" in answer.get("error", ""), answer
    absent = ask(s, id=2, ask="load", scene='{"bodies": [{"mesh": "/no/such.obj"}]}', name="s")
    assert "outside" in absent["error"], "the answer does not reveal which files there are"
    s.close()


def check_closed_while_computing(server, first):
    """A page that is closed during a long computation keeps nobody else waiting."""
    s = server.connect()
    ask(s, id=1, ask="load", builtin="curtain",
        sets=["bodies[0].shape.nx=400", "bodies[0].shape.ny=400"])
    send(s, json.dumps({"id": 2, "ask": "frame", "steps": 1000}).encode())
    server.wait_for_work(0.2)
    s.close()
    began = time.monotonic()
    assert ask(first, id=12, ask="frame", steps=1)[:4] == b"HKFR"
    assert server.get("/")[0] == 200
    assert time.monotonic() - began < 5, time.monotonic() - began


def check_stop(server):
    """'stop' ends a frame of many steps after the present one, and the session goes on."""
    s = server.connect()
    ask(s, id=1, ask="load", builtin="curtain")
    send(s, json.dumps({"id": 2, "ask": "frame", "steps": 1000000}).encode())
    server.wait_for_work(0.2)
    began = time.monotonic()
    send(s, json.dumps({"id": 3, "ask": "stop"}).encode())
    frame = receive(s)[1]
    assert frame[:4] == b"HKFR" and struct.unpack("<I", frame[4:8])[0] == 2
    assert json.loads(receive(s)[1]) == {"id": 3}
    assert time.monotonic() - began < 5
    steps = struct.unpack("<d", frame[16 + 8 * 14:16 + 8 * 15])[0]
    assert 0 < steps < 1000000, steps
    after = ask(s, id=4, ask="frame", steps=2)
    assert struct.unpack("<d", after[16 + 8 * 14:16 + 8 * 15])[0] == 2
    s.close()


class SlowSender:
    """Begins a message, and sends a byte of it each second."""

    def __init__(self, server):
        self.socket = server.connect()
        self.socket.sendall(bytes([0x81, 0x80 | 127]) + struct.pack(">Q", 1000) + bytes(4))
        self.began = time.monotonic()
        self.closed = None
        threading.Thread(target=self.send, daemon=True).start()

    def send(self):
        try:
            while time.monotonic() - self.began < 60:
                self.socket.sendall(b" ")
                self.socket.settimeout(1)
                try:
                    if not self.socket.recv(100):
                        break
                except socket.timeout:
                    pass
            else:
                return
        except OSError:
            pass
        self.closed = time.monotonic() - self.began

    def check(self):
        end = time.monotonic() + 30
        while self.closed is None and time.monotonic() < end:
            time.sleep(0.1)
        assert self.closed is not None, "a sender of a byte a second is never closed"


def refused(program, *options):
    """The words of a program that does not start to serve."""
    done = subprocess.run([program, "view", *options], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and done.stdout == "", done
    return done.stderr


def check_bad_scenes(program, page):
    with tempfile.TemporaryDirectory() as folder:
        scene = folder + "/bad.json"
        with open(scene, "w") as f:
            f.write('{\n  "bodies": [\n    {"shape": {"type": "grid", "nx": -3}}\n  ]\n}')
        assert "bad.json:3" in refused(program, scene, "--page", page)
        with open(folder + "/bad.obj", "w") as f:
            f.write("v 0 0 0\nv 1 0 0\nf 1 2 9\n")
        assert "bad.obj:3" in refused(program, folder + "/bad.obj", "--page", page)


def check_addresses(program, page):
    assert "no IP address" in refused(program, "--address", "nonsense", "--page", page)
    assert "no such address" in refused(program, "--address", "198.51.100.7", "--page", page)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "in use" in refused(program, "--port", port, "--page", page)
    everywhere = Server(program, "flag", "--address", "0.0.0.0")
    own = [a for a in subprocess.run(["hostname", "-I"], capture_output=True,
                                     text=True).stdout.split() if ":" not in a]
    for address in ["127.0.0.1", *own]:
        s = everywhere.connect(to=address)
        assert s is not None, address
        s.close()
    assert everywhere.connect(host=f"evil.example:{everywhere.port}",
                              origin=f"http://evil.example:{everywhere.port}") is None
    assert everywhere.stop() == 130
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
        six = Server(program, "flag", "--address", "::1")
        assert six.host == "[::1]", six.host
        s = six.connect()
        assert ask(s, id=1, ask="registry")["id"] == 1
        try:
            six.open("127.0.0.1").close()
            assert False, "--address ::1 listens at 127.0.0.1"
        except ConnectionRefusedError:
            pass
        assert six.stop() == 130


def check_home_files(program):
    """A scene of the command line reaches its own files and those beside it, and no others."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/scenes")
        mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
        for name in ["/own.obj", "/other.obj", "/scenes/beside.obj"]:
            with open(folder + name, "w") as f:
                f.write(mesh)
        with open(folder + "/scenes/s.json", "w") as f:
            f.write('{"bodies": [{"mesh": "../own.obj"}], "forces": ["gravity"]}')
        os.symlink(folder + "/other.obj", folder + "/scenes/link.obj")
        server = Server(program, folder + "/scenes/s.json")
        s = server.connect()
        assert ask(s, id=1, ask="load", home=True)["vertices"] == 3
        assert "error" not in ask(s, id=2, ask="set", assign=["bodies[0].mesh=beside.obj"])
        for name in ["../other.obj", folder + "/other.obj", "link.obj"]:
            answer = ask(s, id=3, ask="set", assign=["bodies[0].mesh=" + name])
            assert "outside" in answer.get("error", ""), (name, answer)
        assert server.stop() == 130


def check_folders_are_removed(program):
    """Whatever ends the program, nothing stays in the folder of temporary files."""
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        temporary = tempfile.mkdtemp()
        server = Server(program, "flag", environment={"TMPDIR": temporary})
        s = server.connect()
        send(s, struct.pack("<4sII", b"HKUT", 5, 5) + b"b.obj" + b"v 0 0 0\n", 2)
        receive(s)
        assert glob.glob(temporary + "/*/*/b.obj")
        assert server.stop(number) == 128 + number
        assert os.listdir(temporary) == [], (number, os.listdir(temporary))
        shutil.rmtree(temporary)


def check_kept_token(program, page):
    """With a token file the address is the same after a restart; others cannot read the token."""
    with tempfile.TemporaryDirectory() as folder:
        kept = folder + "/token"
        first = Server(program, "flag", "--token-file", kept)
        assert os.stat(kept).st_mode & 0o777 == 0o600
        assert first.stop() == 130
        second = Server(program, "flag", "--token-file", kept, "--port", str(first.port))
        assert (second.token, second.port) == (first.token, first.port)
        s = second.connect()
        assert s is not None
        assert second.stop() == 130
        os.chmod(kept, 0o644)
        assert "others" in refused(program, "--token-file", kept, "--page", page)
        with open(kept, "w") as f:
            f.write("short")
        assert "no token" in refused(program, "--token-file", kept, "--page", page)


def check_open(program):
    """--open hands the whole address to the desktop."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/xdg-open", "w") as f:
            f.write(f'#!/bin/sh\necho "$1" > {folder}/opened\n')
        os.chmod(folder + "/xdg-open", 0o755)
        server = Server(program, "flag", "--open",
                        environment={"PATH": folder + ":" + os.environ["PATH"]})
        end = time.monotonic() + 20
        opened = ""
        while time.monotonic() < end and not opened.endswith("\n"):
            time.sleep(0.05)
            if os.path.exists(folder + "/opened"):
                with open(folder + "/opened") as f:
                    opened = f.read()
        assert opened.strip() == f"http://127.0.0.1:{server.port}/?token={server.token}"
        assert server.stop() == 130


def main():
    program = sys.argv[1]
    server = Server(program, "flag")
    outside = server.folder + "/outside.obj"
    with open(outside, "w") as f:
        f.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    try:
        check_files(server)
        check_doors(server)
        first = check_engine(server)
        check_sizes(server, first)
        check_crowd(server, first)
        check_flood(first)
        check_slow_reader(server, first)
        slow = SlowSender(server)
        check_no_protocol(server, first)
        check_own_files(server)
        check_paths(server, outside)
        check_closed_while_computing(server, first)
        check_stop(server)
        check_bad_scenes(program, server.folder)
        check_addresses(program, server.folder)
        check_home_files(program)
        check_folders_are_removed(program)
        check_kept_token(program, server.folder)
        check_open(program)
        slow.check()
        assert ask(first, id=13, ask="frame", steps=1)[:4] == b"HKFR"
    finally:
        code = server.stop()
    assert code == 130, code  # as every command that Ctrl-C ends
    print("hooke view: files, doors, sizes, crowds, floods, slow clients, addresses and closed pages "
          "are as they should be")


main()
