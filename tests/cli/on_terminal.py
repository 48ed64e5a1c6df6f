"""on_terminal.py COLUMNS PROGRAM ARGUMENTS...: runs a program on a pseudo-terminal.

Prints what it showed, byte by byte but with plain line ends, and ends with its exit code.
"""
import fcntl
import os
import pty
import struct
import sys
import termios

columns = int(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.environ["TERM"] = "xterm"
    os.environ["NO_COLOR"] = "1"
    os.execv(sys.argv[2], sys.argv[2:])

shown = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # the other side is closed
        break
    if not part:
        break
    shown += part
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
