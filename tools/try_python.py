#!/usr/bin/env python3
"""Runs programs of Python's CUDA packages under the tool: tools/try_python.py [--device cpu|gpu] [--python FILE]
[--times] [FOLDER] [NAME…].

--device cpu (the default) fetches the packages with pip into a virtual environment in FOLDER (default
build/python; about 1.5 GB, once): numba, cuda.core, taichi and Triton on the emulated device, then the plug-in of
pytest. --device gpu runs all of examples/python with the packages that --python (default: this one) has; what
is not installed there is named and left out. Each program is run race and fixed; the verdict is checked, the
lines of the races, that every kernel of the program was instrumented, and the place of the launch. A second run
must say the same: what it loads came from the caches. --times prints the seconds of both, and of a run without
the tool (on the emulated device, where there is none: of one whose kernels are not checked).
docs/PROGRAMS.md tells what came of it. Needs the network once, so ./check does not run it.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
BARRACUDA = TREE / "build/bin/barracuda"
EXAMPLES = TREE / "examples/python"
PACKAGES = ["numba-cuda[cu13]==0.30.4", "numba==0.68.1", "cuda-core==1.2.2", "taichi==1.7.4", "triton==3.9.0",
            "pytest==9.2.0"]


@dataclass(frozen=True)
class Program:
    file: str
    name: str
    package: str             # without which it is left out
    has_lines: bool = True   # the report names lines of the file
    is_emulated: bool = True  # it runs on the emulated device
    never_races: bool = False

    def __str__(self):
        return f"{self.file} {self.name}"


PROGRAMS = [
    Program("kernels.py", "vector_add", "numba.cuda", never_races=True),
    Program("kernels.py", "block_sum", "numba.cuda"),
    Program("kernels.py", "histogram", "numba.cuda"),
    Program("kernels.py", "grid_rows", "numba.cuda"),
    Program("kernels.py", "two_streams", "numba.cuda"),
    Program("compiled.py", "count", "cuda.core", has_lines=False),
    Program("fields.py", "shift", "taichi", has_lines=False),
    Program("triton_kernels.py", "overlapping_stores", "triton"),
    Program("triton_kernels.py", "in_place_update", "triton"),
    Program("triton_kernels.py", "narrow_atomic", "triton"),
    Program("torch_kernels.py", "compiled", "torch", has_lines=False, is_emulated=False),
    Program("torch_kernels.py", "extension", "torch", has_lines=False, is_emulated=False),
    Program("cupy_kernels.py", "raw", "cupy", has_lines=False, is_emulated=False),
    Program("cupy_kernels.py", "elementwise", "cupy", has_lines=False, is_emulated=False),
    Program("jax_kernels.py", "pallas", "jax", has_lines=False, is_emulated=False),
    Program("warp_kernels.py", "count", "warp", has_lines=False, is_emulated=False),
]


def fail(message):
    sys.exit("try_python.py: " + message)


def environment_in(folder):
    """The Python of a virtual environment with the packages."""
    python = folder / "bin/python"
    wanted = " ".join(PACKAGES)
    complete = folder / "complete"
    if not complete.exists() or complete.read_text() != wanted:
        print(f"Fetching {', '.join(PACKAGES)} into {folder}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=False)
        if made.returncode != 0:
            fail("no virtual environment could be made (Debian: python3-venv)")
        fetched = subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                                  "--disable-pip-version-check", *PACKAGES], check=False)
        if fetched.returncode != 0:
            fail("pip could not fetch the packages: is there a network?")
        complete.write_text(wanted)
    return python


def has_package(python, package):
    found = subprocess.run([str(python), "-c", f"import importlib.util as u; raise SystemExit(u.find_spec('{package}') is None)"],
                           stderr=subprocess.DEVNULL, check=False)
    return found.returncode == 0


class Runner:
    """Runs programs with one Python on one device, with caches that are empty when it begins."""

    def __init__(self, python, device, caches):
        self.python, self.device, self.caches = str(python), device, caches

    def start(self, command):
        begin = time.monotonic()
        ended = subprocess.run(
            command, cwd=EXAMPLES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False,
            env={**os.environ, "TI_LOG_LEVEL": "error", "XDG_CACHE_HOME": self.caches})
        return ended, time.monotonic() - begin

    def program(self, program, verdict):
        return [self.python, "-W", "ignore", program.file, program.name, verdict]

    def run(self, program, verdict, *options):
        with tempfile.TemporaryDirectory() as scratch:
            findings = Path(scratch) / "findings.json"
            ended, seconds = self.start([str(BARRACUDA), "run", "--device", self.device, "--json", str(findings),
                                         *options, "--", *self.program(program, verdict)])
            lines = findings.read_text().splitlines() if findings.exists() else []
            return ended, [json.loads(line) for line in lines], seconds

    def seconds_without(self, program, verdict):
        if self.device == "cpu":
            return self.run(program, verdict, "--kernel-name", "none")[2]
        self.start(self.program(program, verdict))  # fills the libraries' own caches
        return self.start(self.program(program, verdict))[1]


def racy_lines(program):
    text = (EXAMPLES / program.file).read_text().splitlines()
    return {number for number, line in enumerate(text, 1) if re.search(r"# RACE$", line)}


def kernel_faults(findings):
    summary = next((line for line in findings if line["type"] == "summary"), None)
    if summary is None:
        yield "no summary"
        return
    own = summary["kernels"]["program"]
    if own["launched"] == 0 or own["instrumented"] != own["launched"]:
        yield f"{own['instrumented']} of the program's {own['launched']} kernels instrumented"
    if summary["program_coverage"] != "complete":
        yield "coverage of the program is not complete: " + "; ".join(summary["not_covered"])


def faults(program, expects_race, ended, findings):
    """What is wrong with this run, a sentence each."""
    races = [finding for finding in findings if finding["type"] == "race"]
    yield from kernel_faults(findings)
    if ended.returncode != (66 if expects_race else 0):
        yield f"exit status {ended.returncode}"
    if not expects_race and ended.stdout.strip().splitlines()[-1:] != ["ok"]:
        yield "a wrong result"
    if bool(races) != expects_race:
        yield f"{len(races)} races"
    for race in races:
        for access in race["accesses"]:
            if program.has_lines and access["line"] not in racy_lines(program):
                yield f"a race at {access['file']}:{access['line']}"
            # Not in the text, whose lines are folded where they are long.
            if access.get("launch") and not re.search(rf"\b{program.file}:\d+$", access.get("launched_from") or ""):
                yield "the launch has no place in the program"


def try_one(runner, program, verdict, wants_times):
    """Whether it was right, in a row of text."""
    expects_race = verdict == "race" and not program.never_races
    wrong, seconds = [], []
    for which in ("first", "second"):
        ended, findings, took = runner.run(program, verdict)
        seconds.append(took)
        found = [f"{which} run: {fault}" for fault in faults(program, expects_race, ended, findings)]
        if found:
            print(ended.stdout + ended.stderr)
        wrong += found
    row = f"{program} {verdict}: " + ("; ".join(wrong) if wrong else "right")
    if wants_times:
        row += f", {seconds[0]:.1f} s, then {seconds[1]:.1f} s ({runner.seconds_without(program, verdict):.1f} s without)"
    print(row, flush=True)
    return not wrong


def try_plugin(python):
    ended = subprocess.run([str(python), "-B", str(TREE / "tests/e2e/python/pytest_plugin_test.py")], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                           env={**os.environ, "BUILD": str(TREE / "build")})
    print("the plug-in of pytest: " + ("right" if ended.returncode == 0 else ended.stdout))
    return ended.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("folder", nargs="?", default=str(TREE / "build/python"))
    parser.add_argument("names", nargs="*", help="run only these")
    arguments = parser.parse_args()
    if not BARRACUDA.exists():
        fail("build first: ./check or ./demo")
    is_emulated = arguments.device == "cpu"
    python = environment_in(Path(arguments.folder).resolve()) if is_emulated else arguments.python
    failed = 0
    with tempfile.TemporaryDirectory(prefix="barracuda-python-") as caches:
        runner = Runner(python, arguments.device, caches)
        for program in PROGRAMS:
            if (is_emulated and not program.is_emulated) or (arguments.names and program.name not in arguments.names):
                continue
            if not has_package(python, program.package):
                print(f"{program}: left out, there is no {program.package}")
                continue
            for verdict in ("race", "fixed"):
                failed += not try_one(runner, program, verdict, arguments.times)
    if is_emulated and not arguments.names:
        failed += not try_plugin(python)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
