"""The cell magic of Jupyter and IPython: %load_ext barracuda_magic, then a cell that begins with

    %%barracuda [--option value ...]

runs its lines as a program of their own under `barracuda run`: what the notebook has defined is not there,
and what the cell defines is gone after it. The report stands below the cell's output. With a whole notebook:
barracuda run --report live -- jupyter lab, where findings appear in the terminal while its kernels run.
"""
import shlex
import shutil
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
        ended = subprocess.run([command(), "run", *shlex.split(line), "--", sys.executable, str(program)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               check=False)
    print(ended.stdout, end="")
    print(ended.stderr, end="", file=sys.stderr)


def load_ipython_extension(shell):
    shell.register_magic_function(barracuda, "cell")
