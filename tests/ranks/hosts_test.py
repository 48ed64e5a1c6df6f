"""Ranks on several hosts: network namespaces on one machine, which see each other over TCP alone.

Usage: hosts_test.py HOOKE MPIRUN..., with mpirun's options. Ends with 1, and says why, if a check
fails; with 77 where the system does not permit the namespaces.

The test runs in namespaces of its own for processes, mounts and networks. The system ends all of
its processes and removes all of its networks when the test ends, however it ends.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOSTS = (1, 2, 3)
SECONDS = 60  # a hang is a failure

# What Open MPI starts in place of ssh: runs a command on the host with an address 10.97.0.HOST, and
# with a folder for temporary files of its own.
AGENT = """#!/bin/sh
host=host${1##*.}
shift
temporary=$(dirname "$0")/$host
mkdir -p "$temporary"
exec env -i PATH="$PATH" HOME=/ TMPDIR="$temporary" ip netns exec $host unshare --uts \\
  sh -c "hostname $host; $*"
"""
# Keepalive messages a second apart: by default Open MPI notices after minutes that a host is away.
NETWORK = ["--mca", "oob_tcp_if_include", "net0", "--mca", "btl_tcp_if_include", "net0",
           "--mca", "pml", "ob1", "--mca", "oob_tcp_keepalive_time", "3",
           "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "3"]
EXPLICIT = ["integrator=symplectic_euler", "time.step=1e-4", "time.duration=0.2"]
IMPLICIT = ["integrator=backward_euler", "time.step=0.01", "time.duration=0.1"]
LONG = ["integrator=symplectic_euler", "time.step=1e-4", "time.duration=0.6"]
GRID_SIDE = 31  # vertices of the shorter side of the flag: the least halo
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print("FAILED:", text, flush=True)


def enter_namespaces():
    """Starts the script anew in namespaces of its own, or skips the test."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    line = ["unshare", *user, "--fork", "--kill-child", "--pid", "--mount-proc", "--net", "--uts"]
    tried = "mount -t tmpfs tmpfs /run && ip netns add a && ip -n a link add type veth && " \
            "ip -n a link add type bridge && ip netns exec a hostname a"
    try:
        done = subprocess.run([*line, "sh", "-c", tried], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        sys.exit(skip("there is no unshare (util-linux)"))
    if done.returncode:
        sys.exit(skip("network namespaces require iproute2, and root or user namespaces: " +
                      done.stderr.strip()))
    os.execvp(line[0], [*line, sys.executable, __file__, "--inside", *sys.argv[1:]])


def skip(reason):
    print("skipped:", reason)
    return 77


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
    return done.stdout


def make_hosts():
    """Hosts with an interface net0 each, whose other end is a port of a switch."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    ip("link", "set", "lo", "up")
    ip("link", "add", "switch", "type", "bridge")
    ip("link", "set", "switch", "up")
    for host in HOSTS:
        name = f"host{host}"
        ip("netns", "add", name)
        ip("link", "add", f"port{host}", "type", "veth", "peer", "name", "net0", "netns", name)
        ip("link", "set", f"port{host}", "master", "switch", "up")
        ip("-n", name, "addr", "add", f"10.97.0.{host}/24", "dev", "net0")
        ip("-n", name, "link", "set", "net0", "up")
        ip("-n", name, "link", "set", "lo", "up")


def command(ranks, network, folder, settings, *words):
    """The command line for ranks on a host each, or all on this one."""
    mpirun = [sys.argv[3], "--allow-run-as-root", *sys.argv[4:]]
    line = [sys.argv[2], "run", "flag", "-o", str(folder), "--set", 'outputs=["energies"]',
            *(word for text in settings for word in ("--set", text)), "--device", "petsc", *words]
    if not network:
        return [*mpirun, "-n", str(ranks), *line]
    agent = str(folder.parent / "agent")
    # A shell on another host has no variables of this one.
    plugins = [w for k, v in os.environ.items() if k == "HOOKE_PLUGINS" for w in ("-x", f"{k}={v}")]
    hosts = ",".join(f"10.97.0.{host}:1" for host in HOSTS[:ranks])
    mpirun = [word.replace("vader", "tcp") for word in mpirun]
    mpirun += [*NETWORK, "--mca", "plm_rsh_agent", agent, *plugins, "--host", hosts]
    return [agent, "10.97.0.1", shlex.join([*mpirun, *line])]


def run(*words):
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    check(done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stderr}")


def energies(folder):
    return (folder / "energies.csv").read_bytes()


def received(host):
    path = "/sys/class/net/net0/statistics/rx_bytes"
    return int(ip("netns", "exec", f"host{host}", "cat", path))


def processes(host, name):
    """Processes of a host, as numbers, whose program has this name."""
    pids = [int(pid) for pid in ip("netns", "pids", f"host{host}").split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == name]


# ---- Tests ---------------------------------------------------------------------------------------


def hosts_compute_what_one_host_does(place):
    for ranks, steps, settings in ((2, 2000, EXPLICIT), (3, 2000, EXPLICIT), (2, 10, IMPLICIT)):
        what = f"{ranks} hosts, {settings[0]}"
        one, more = place / f"one {what}", place / f"more {what}"
        run(ranks, False, one, settings)
        before = {host: received(host) for host in HOSTS[:ranks]}
        run(ranks, True, more, settings)
        check(energies(one) == energies(more), f"{what}: energies.csv differs")
        for host in before:
            size, halo = received(host) - before[host], steps * GRID_SIDE * 3 * 8
            print(f"  {what}: host {host} received {size} bytes, the least halo {halo}", flush=True)
            check(size > halo, f"{what}: messages did not cross the network")


def kill(name):
    pids = processes(2, name)
    check(len(pids) == 1, f"processes {name} on host 2: {pids}")
    os.kill(pids[0], 9)


def cut():
    ip("link", "set", "port2", "down")


def repair():
    """Returns when host 1 answers host 2, by refusing a connection: the switch takes a while."""
    ip("link", "set", "port2", "up")
    knock = "import socket; socket.create_connection(('10.97.0.1', 1), 1)"
    until = time.time() + SECONDS
    while time.time() < until:
        done = subprocess.run(["ip", "netns", "exec", "host2", sys.executable, "-c", knock],
                              capture_output=True, text=True, check=False)
        if "ConnectionRefusedError" in done.stderr:
            return
    check(False, "the repaired cable carries nothing")


def rows_in(folder):
    path = folder / "energies.csv"
    return path.read_text().count("\n") if path.exists() else 0


def interrupt(folder, what, fault, *words):
    """Runs for two frames or more; then host 2 loses something. All must end, and say why."""
    rows, until = rows_in(folder) + 2, time.time() + SECONDS
    process = subprocess.Popen(command(2, True, folder, LONG, "--checkpoint", "0", *words),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while rows_in(folder) < rows and process.poll() is None and time.time() < until:
        time.sleep(0.01)
    check(process.poll() is None, f"{what}: the run ended before")
    fault()
    start = time.time()
    _, text = process.communicate(timeout=SECONDS)
    check(process.returncode != 0, f"{what}: exit code 0")
    check("on node 10.97.0.2" in text, f"{what}: {text}")
    while (left := processes(2, "hooke") + processes(2, "orted")) and time.time() < start + SECONDS:
        time.sleep(0.1)
    check(not left, f"{what}: host 2 still runs {left}")
    print(f"  {what}: all ended after {time.time() - start:.1f} s", flush=True)


def runs_go_on_after_the_loss_of_a_rank_a_cable_and_a_daemon(place):
    whole, folder = place / "whole", place / "out"
    run(2, False, whole, LONG)
    interrupt(folder, "kill -9 of a rank", lambda: kill("hooke"))
    interrupt(folder, "a cut cable", cut, "--resume")
    repair()
    interrupt(folder, "kill -9 of a daemon", lambda: kill("orted"), "--resume")
    run(2, True, folder, LONG, "--resume")
    check(energies(folder) == energies(whole), "energies.csv of the resumed run differs")


def main():
    make_hosts()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ["TMPDIR"] = folder  # of Open MPI on this host
        (place / "agent").write_text(AGENT)
        (place / "agent").chmod(0o755)
        for test in (hosts_compute_what_one_host_does,
                     runs_go_on_after_the_loss_of_a_rank_a_cable_and_a_daemon):
            print(test.__name__, flush=True)
            test(place)
    return 1 if failures else 0


if sys.argv[1] != "--inside":
    enter_namespaces()
sys.exit(main())
