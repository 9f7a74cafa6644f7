"""The cell magic of Jupyter and IPython: %load_ext barracuda_magic, then a cell that begins with

    %%barracuda [--option value ...]

runs its lines as a program of their own under `barracuda run`: what the notebook has defined is not there,
and what the cell defines is gone after it. The report stands below the cell's output. With a whole notebook:
barracuda run --report live -- jupyter lab, where findings appear in the terminal while its kernels run.
"""
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def command():
    own = Path(__file__).resolve()
    # Of share/barracuda/python, and in a wheel.
    beside = [path for path in (own.parents[3] / "bin/barracuda", own.parent / "barracuda/bin/barracuda") if path.exists()]
    return str(beside[-1]) if beside else shutil.which("barracuda") or "barracuda"


def barracuda(line, cell):
    """%%barracuda: runs the cell under the tool and prints its output and the report."""
    with tempfile.TemporaryDirectory(prefix="barracuda-cell-") as scratch:
        program = Path(scratch) / "cell.py"  # whose lines are the cell's, from the one below the magic
        program.write_text(cell, encoding="utf-8")
        with subprocess.Popen([command(), "run", *shlex.split(line), "--", sys.executable, str(program)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            output, report = until_its_end(process)
    print(output, end="")
    print(report, end="", file=sys.stderr)


def until_its_end(process):
    """Its output and the report. The notebook's interrupt ends the cell, and what was found till then is reported;
    a second one ends the tool as well."""
    try:
        return process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
    try:
        return process.communicate()
    except KeyboardInterrupt:
        process.kill()
        raise


def load_ipython_extension(shell):
    shell.register_magic_function(barracuda, "cell")
