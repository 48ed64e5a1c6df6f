"""A running `hooke view` and a WebSocket client for it, with nothing but Python's own library."""
import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time


class Server:
    """A running `hooke view` with a small page of its own."""

    def __init__(self, program, *options, environment=None):
        self.folder = tempfile.mkdtemp()
        os.mkdir(self.folder + "/assets")
        with open(self.folder + "/index.html", "w") as f:
            f.write("<title>page</title>")
        with open(self.folder + "/assets/a.js", "w") as f:
            f.write("1")
        with open(self.folder + "/.secret", "w") as f:
            f.write("secret")
        self.process = subprocess.Popen([program, "view", *options, "--page", self.folder],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        if "libwebsockets" in line:
            print("skipped: built without libwebsockets")
            sys.exit(77)
        self.token = line.strip().split("token=")[1]
        self.host = line.split("http://")[1].rsplit(":", 1)[0]  # as it stands in an address
        self.port = int(line.split("/?token=")[0].rsplit(":", 1)[1])

    def get(self, path):
        """Status and body of a file."""
        with self.open() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
                      "Connection: close\r\n\r\n".encode())
            answer = b""
            while part := s.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.lower(), body

    def open(self, to=None):
        s = socket.create_connection(((to or self.host).strip("[]"), self.port))
        s.settimeout(60)
        return s

    def connect(self, token=None, origin=None, host=None, protocol="hooke", to=None):
        """A WebSocket, or None if it is refused."""
        here = f"{to or self.host}:{self.port}"
        token = self.token if token is None else token
        named = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
        s = self.open(to)
        key = base64.b64encode(os.urandom(16)).decode()
        s.sendall((f"GET /?token={token} HTTP/1.1\r\nHost: {host or here}\r\n"
                   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   f"Sec-WebSocket-Key: {key}\r\n{named}"
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

    def resident(self):
        """Bytes of memory that it holds."""
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def wait_for_work(self, seconds):
        """Waits until it has used so much further CPU time, which does not grow while others have the cores."""
        end = time.monotonic() + 60
        enough = self.cpu_time() + seconds
        while self.cpu_time() < enough:
            assert time.monotonic() < end, "the server does not work"
            time.sleep(0.01)

    def cpu_time(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()  # from the third one, after the name
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(60)
        if code != 128 + signal.SIGINT:
            print(self.process.stdout.read())
        shutil.rmtree(self.folder)
        return code


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


def read(s, count, pace=None):
    """So many bytes; pace(size) is called after each piece."""
    data = bytearray()
    while len(data) < count:
        part = s.recv(min(count - len(data), 1 << 18))
        if not part:
            raise EOFError
        data += part
        if pace:
            pace(len(part))
    return bytes(data)


def receive(s, pace=None):
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
        data += read(s, size, pace)
        kind = kind or head[0] & 15
        if head[0] & 0x80:
            return kind, data


def ask(s, **question):
    send(s, json.dumps(question).encode())
    kind, data = receive(s)
    return json.loads(data) if kind == 1 else data
