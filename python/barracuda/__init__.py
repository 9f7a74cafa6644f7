"""The command of the wheel (tools/make_wheel.py), which lies in this folder as in any other prefix.

    python -m barracuda run -- ./app        # as `barracuda run -- ./app`
    cmake -D CMAKE_PREFIX_PATH="$(python -c 'import barracuda; print(barracuda.PREFIX)')" ...
"""
import os
import signal
import sys
from pathlib import Path

PREFIX = Path(__file__).resolve().parent
COMMAND = PREFIX / "bin/barracuda"


def restore_process():
    """Undoes what Python has changed as it started: programs that are checked would inherit it."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    # In the C locale Python sets LC_CTYPE (PEP 538). The kernel keeps what the process was given.
    if b"\0LC_CTYPE=" not in b"\0" + Path("/proc/self/environ").read_bytes():
        os.environ.pop("LC_CTYPE", None)


def main():
    restore_process()
    try:
        os.execv(COMMAND, [str(COMMAND), *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"barracuda: {COMMAND}: {problem.strerror}")
