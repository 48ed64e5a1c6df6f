"""hooke view with a large cloth: frames a second, and that none pile up for who reads slowly.

    python3 bench/view_stream.py HOOKE [--vertices N] [--seconds S] [--pace MB]

Asks for frames as the page does: the next one once the last has come, for the time that has passed,
0.1 s at most, with 50 ms of computing at most. First it reads as fast as it can, then no faster than
MB megabytes a second, and lets the program compute for 0.3 s in between; S seconds each. Steps that
nobody was ready to see are not sent: each frame is the newest, and its time is some steps after that
of the one before. Prints one line; ends with 1 where the queue (bytes on the way in the sockets) or
the memory of the program grew by frames, or where no steps were left out.
"""
import argparse
import math
import os
import statistics
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from view_client import Server, ask, receive, send  # noqa: E402

LONGEST, BUDGET, BUDGET_PART = 0.1, (0.012, 0.05), 0.7  # as in web/src/side.ts
SLOW_BUDGET = (0.3, 0.3)  # s
FRAMES_MOST = 4  # that queue and memory may grow by
EVERY = 0.01  # s between two looks at them
MB = 1e6


class Watch(threading.Thread):
    """The largest queue and memory while it runs."""

    def __init__(self, server, port):
        super().__init__(daemon=True)
        self.server, self.port = server, port
        self.queue = self.memory = 0
        self.ends = False

    def bytes_under_way(self):
        """Sent and not read yet, in both sockets of the connection."""
        ends, total = {f"{self.server.port:04X}", f"{self.port:04X}"}, 0
        with open("/proc/net/tcp") as table:
            for line in table.readlines()[1:]:
                words = line.split()
                if {words[1].split(":")[1], words[2].split(":")[1]} == ends:
                    total += sum(int(part, 16) for part in words[4].split(":"))
        return total

    def run(self):
        while not self.ends:
            self.queue = max(self.queue, self.bytes_under_way())
            self.memory = max(self.memory, self.server.resident())
            time.sleep(EVERY)


class Reader:
    """What a page would have seen."""

    def __init__(self, connection, pace=0, budget=BUDGET):
        self.connection, self.pace, self.budget = connection, pace, budget
        self.frames = self.bytes = 0
        self.skips = []  # steps from one frame to the next
        self.last = None

    def slow_down(self, size):
        time.sleep(size / (self.pace * MB))

    def frame(self, passed):
        budget = min(self.budget[1], max(self.budget[0], BUDGET_PART * passed))
        send(self.connection, f'{{"id": 1, "ask": "frame", "seconds": {min(LONGEST, passed)}, '
                              f'"budget": {budget}}}'.encode())
        data = receive(self.connection, self.slow_down if self.pace else None)[1]
        now, step = struct.unpack_from("<2d", data, 16)
        if self.last is not None:
            self.skips.append((now - self.last) / step)
        self.last = now
        self.frames += 1
        self.bytes += len(data)
        self.size = len(data)

    def run(self, seconds):
        start = before = time.monotonic()
        while (now := time.monotonic()) - start < seconds:
            self.frame(now - before)
            before = now
        self.seconds = time.monotonic() - start
        return self


def read_options():
    parser = argparse.ArgumentParser(description="hooke view with a large cloth")
    parser.add_argument("hooke")
    parser.add_argument("--vertices", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--pace", type=float, default=20, help="MB/s of the slow reader")
    return parser.parse_args()


def main():
    o = read_options()
    side = round(math.sqrt(o.vertices))
    server = Server(o.hooke, "curtain")
    try:
        s = server.connect()
        info = ask(s, id=1, ask="load", builtin="curtain", sets=[
            f"bodies[0].shape.nx={side}", f"bodies[0].shape.ny={side}", "integrator=symplectic_euler"])
        if "error" in info:
            sys.exit(f"view_stream.py: {info['error']}")
        Reader(s).frame(LONGEST)
        watch = Watch(server, s.getsockname()[1])
        start = server.resident()
        watch.start()
        fast = Reader(s).run(o.seconds)
        slow = Reader(s, o.pace, SLOW_BUDGET).run(o.seconds)
        watch.ends = True
        watch.join()
        end = server.resident()
    finally:
        server.stop()
    print(f"hooke view, {info['vertices']:,} vertices: {fast.frames / fast.seconds:.1f} frames/s, "
          f"{fast.bytes / fast.seconds / MB:.0f} MB/s; read slowly {slow.frames / slow.seconds:.1f} frames/s, "
          f"{slow.bytes / slow.seconds / MB:.0f} MB/s, {statistics.median(slow.skips):.0f} steps from frame to frame; "
          f"largest queue {watch.queue / MB:.1f} MB ({watch.queue / slow.size:.1f} frames); "
          f"memory {start / MB:.0f} MB at the start, {watch.memory / MB:.0f} at most, {end / MB:.0f} at the end")
    most = FRAMES_MOST * slow.size
    if watch.queue > most or watch.memory - start > most or statistics.median(slow.skips) < 1.5:
        sys.exit("view_stream.py: frames pile up, or each single step is sent")


main()
