"""A process of a sweep: scenes come in, results go out."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from .run import Result, run
from .scene import Scene
from .sweep import receive, send


def work(scene: Scene, options: dict[str, Any]) -> tuple[Result | None, str | None]:
    """Runs one scene; the result, or why there is none."""
    try:
        return run(scene, **options), None
    except Exception as error:  # whatever it is, the other combinations go on
        return None, f"{type(error).__name__}: {error}"


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of who started it
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not get among the answers
    while True:
        try:
            scene, options = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(pipe, work(scene, options))


if __name__ == "__main__":
    main()
