"""hooke view from outside: files, tokens, origins, limits; with a WebSocket client of its own.

    python3 view_server.py HOOKE
"""
import base64
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time


class Server:
    """A running `hooke view` with a small page of its own."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        os.mkdir(self.folder + "/assets")
        with open(self.folder + "/index.html", "w") as f:
            f.write("<title>page</title>")
        with open(self.folder + "/assets/a.js", "w") as f:
            f.write("1")
        with open(self.folder + "/.secret", "w") as f:
            f.write("secret")
        self.process = subprocess.Popen([program, "view", "flag", "--page", self.folder],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        if "libwebsockets" in line:
            print("skipped: built without libwebsockets")
            sys.exit(77)
        self.token = line.strip().split("token=")[1]
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])

    def get(self, path):
        """Status and body of a file."""
        with self.open() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                      "Connection: close\r\n\r\n".encode())
            answer = b""
            while part := s.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.lower(), body

    def open(self):
        s = socket.create_connection(("127.0.0.1", self.port))
        s.settimeout(60)
        return s

    def connect(self, token=None, origin=None, host=None):
        """A WebSocket, or None if it is refused."""
        here = f"127.0.0.1:{self.port}"
        token = self.token if token is None else token
        s = self.open()
        key = base64.b64encode(os.urandom(16)).decode()
        s.sendall((f"GET /?token={token} HTTP/1.1\r\nHost: {host or here}\r\n"
                   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: hooke\r\n"
                   f"Origin: {origin or 'http://' + here}\r\n\r\n").encode())
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                part = s.recv(1)
                if not part:
                    break
                head += part
        except OSError:
            pass
        if b" 101 " in head:
            return s
        s.close()
        return None

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def send(s, data, kind=1):
    mask = os.urandom(4)
    size = len(data)
    head = bytes([0x80 | kind])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += bytes([0x80 | 126]) + struct.pack(">H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", size)
    key = (mask * (size // 4 + 1))[:size]
    body = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
    s.sendall(head + mask + body)


def read(s, count):
    data = b""
    while len(data) < count:
        part = s.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def receive(s):
    """Kind (1 text, 2 bytes, 8 close) and data of a whole message."""
    data = b""
    kind = 0
    while True:
        head = read(s, 2)
        size = head[1] & 127
        if size == 126:
            size = struct.unpack(">H", read(s, 2))[0]
        elif size == 127:
            size = struct.unpack(">Q", read(s, 8))[0]
        data += read(s, size)
        kind = kind or head[0] & 15
        if head[0] & 0x80:
            return kind, data


def ask(s, **question):
    send(s, json.dumps(question).encode())
    kind, data = receive(s)
    return json.loads(data) if kind == 1 else data


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


def main():
    server = Server(sys.argv[1])
    try:
        check_files(server)
        check_doors(server)
        first = check_engine(server)
        check_sizes(server, first)
        check_crowd(server, first)
        check_flood(first)
    finally:
        code = server.stop()
    assert code == 0, code
    print("hooke view: files, doors, sizes, crowds and floods are as they should be")


main()
