#!/usr/bin/env python3
"""Runs programs of Python's CUDA packages under the tool: tools/try_python.py [--times] [FOLDER].

Fetches the packages with pip into a virtual environment in FOLDER (default build/python; about 300 MB,
once), runs examples/python and a few lines of taichi, and checks each verdict, the lines of the races
and the place of the launch. --times also measures: without the tool there is no device to run on, so the
time without it is that of a run whose kernels are not checked (kernel-name of none). Needs the network
once, so ./check does not run it. docs/PROGRAMS.md tells what came of it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
BARRACUDA = TREE / "build/bin/barracuda"
EXAMPLES = TREE / "examples/python"
PACKAGES = ["numba-cuda[cu13]==0.30.4", "numba==0.68.1", "cuda-core==1.2.2", "taichi==1.7.4"]

# Program, its name, and whether its package gives the lines of the source.
PROGRAMS = [
    ("kernels.py", "vector_add", True), ("kernels.py", "block_sum", True),
    ("kernels.py", "histogram", True), ("kernels.py", "grid_rows", True),
    ("kernels.py", "two_streams", True), ("compiled.py", "count", False),
    ("fields.py", "shift", False),
]
NEVER_RACES = {"vector_add"}


def fail(message):
    sys.exit("try_python.py: " + message)


def environment_in(folder):
    """The Python of a virtual environment with the packages."""
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        print(f"Fetching {', '.join(PACKAGES)} into {folder}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=False)
        if made.returncode != 0:
            fail("no virtual environment could be made (Debian: python3-venv)")
        fetched = subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                                  "--disable-pip-version-check", *PACKAGES], check=False)
        if fetched.returncode != 0:
            fail("pip could not fetch the packages: is there a network?")
        (folder / "complete").touch()
    return python


def run(python, program, name, verdict, options=()):
    with tempfile.TemporaryDirectory() as scratch:
        findings = Path(scratch) / "findings.json"
        begin = time.monotonic()
        ended = subprocess.run(
            [str(BARRACUDA), "run", "--device", "cpu", "--json", str(findings), *options, "--",
             str(python), "-W", "ignore", program, name, verdict],
            cwd=EXAMPLES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
            check=False, env={**os.environ, "TI_LOG_LEVEL": "error"})
        seconds = time.monotonic() - begin
        lines = findings.read_text().splitlines() if findings.exists() else []
        return ended, [json.loads(line) for line in lines], seconds


def racy_lines(program):
    text = (EXAMPLES / program).read_text().splitlines()
    return {number for number, line in enumerate(text, 1) if re.search(r"# RACE$", line)}


def faults(program, name, expects_race, has_lines, ended, findings):
    """What is wrong with this run, a sentence each."""
    races = [finding for finding in findings if finding["type"] == "race"]
    if "coverage complete" not in ended.stderr:
        yield "coverage is not complete"
    if ended.returncode != (66 if expects_race else 0):
        yield f"exit status {ended.returncode}"
    if not expects_race and ended.stdout.strip().splitlines()[-1:] != ["ok"]:
        yield "a wrong result"
    if bool(races) != expects_race:
        yield f"{len(races)} races"
    for race in races:
        for access in race["accesses"]:
            if has_lines and access["line"] not in racy_lines(program):
                yield f"a race at {access['file']}:{access['line']}"
    if expects_race and not re.search(r"launched from (\w+|<module>) at .*%s:\d+" % program,
                                      ended.stderr):
        yield "the launch has no place in the program"


def main():
    arguments = sys.argv[1:]
    wants_times = "--times" in arguments
    folders = [argument for argument in arguments if not argument.startswith("-")]
    folder = Path(folders[0] if folders else TREE / "build/python").resolve()
    if not BARRACUDA.exists():
        fail("build first: ./check or ./demo")
    python = environment_in(folder)
    failed = 0
    for program, name, has_lines in PROGRAMS:
        for verdict in ("race", "fixed"):
            expects_race = verdict == "race" and name not in NEVER_RACES
            ended, findings, seconds = run(python, program, name, verdict)
            wrong = list(faults(program, name, expects_race, has_lines, ended, findings))
            failed += bool(wrong)
            row = f"{program} {name} {verdict}: " + ("; ".join(wrong) if wrong else "right")
            if wants_times:
                unchecked = run(python, program, name, verdict, ["--kernel-name", "none"])[2]
                row += f", {seconds:.1f} s ({unchecked:.1f} s with no kernel checked)"
            print(row, flush=True)
            if wrong:
                print(ended.stdout + ended.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
