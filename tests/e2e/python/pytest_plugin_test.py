#!/usr/bin/env python3
"""The plug-in of pytest, and the cell magic: each kind of test has the outcome that it has without the tool,
but for those that race. Skipped where there is no pytest (tools/try_python.py installs it and runs this)."""
import contextlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

BUILD = Path(os.environ["BUILD"])
TREE = Path(__file__).resolve().parents[3]
TESTS = '''
import os, subprocess, sys, pytest
def launch(name): subprocess.run([os.environ["BUILD"] + "/programs/" + name], check=False)
def test_race(): launch("shared_sum_race")
def test_fixed(): launch("shared_sum_fixed")
def test_no_kernel(): pass
def test_fails(): assert 0, "its own failure"
def test_skipped(): pytest.skip("its own reason")
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.fixture
def broken(): raise ValueError("its fixture")
def test_fixture(broken): pass
@pytest.mark.barracuda(check=False)
def test_unchecked(): assert "BARRACUDA_RUN_DIRECTORY" not in os.environ; launch("shared_sum_race")
@pytest.mark.barracuda(kernel_name="none")
def test_left_out(): launch("shared_sum_race")
def test_no_ptx(): launch("no_ptx")
@pytest.mark.barracuda(strict=True)
def test_no_ptx_strict(): launch("no_ptx")
@pytest.mark.barracuda(strict=True)
def test_no_kernel_strict(): pass
@pytest.mark.barracuda(no_such_option=1)
def test_bad_option(): pass
@pytest.mark.parametrize("verdict", ["race", "fixed"])
def test_both(verdict): launch("shared_sum_" + verdict)
def test_dies(): os._exit(3)
'''
EXPECTED = {
    "test_race": "FAILED", "test_fixed": "PASSED", "test_no_kernel": "PASSED", "test_fails": "FAILED",
    "test_skipped": "SKIPPED", "test_expected": "XFAIL", "test_fixture": "ERROR", "test_unchecked": "PASSED",
    "test_left_out": "PASSED", "test_no_ptx": "PASSED", "test_no_ptx_strict": "FAILED", "test_no_kernel_strict": "PASSED", "test_bad_option": "FAILED", "test_both[race]": "FAILED",
    "test_both[fixed]": "PASSED", "test_dies": "FAILED",
}


def outcomes(folder):
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "barracuda_pytest", "--barracuda",
               "--barracuda-option", "device=cpu", "--barracuda-command", str(BUILD / "bin/barracuda"), "test_all.py"]
    ended = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           check=False, env={**os.environ, "PYTHONPATH": str(TREE / "python")})
    found = {}
    for line in ended.stdout.splitlines():
        words = line.split()
        if len(words) > 1 and words[0].startswith("test_all.py::"):
            found[words[0].split("::")[1]] = words[1]
    return found, ended.stdout


def main():
    if importlib.util.find_spec("pytest") is None:
        print("there is no pytest")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_all.py").write_text(TESTS)
        found, text = outcomes(folder)
    wrong = {name: (found.get(name), outcome) for name, outcome in EXPECTED.items() if found.get(name) != outcome}
    for part in ("BARRACUDA: ERROR: intra-block race on shared memory", "shared_sum_race.cu:", "its own failure",
                 "tests launched kernels, 2 with findings", "launched kernels that were not checked (-rA shows why"):
        if part not in text:
            wrong[part] = ("not in the output", "")
    if wrong:
        print(text)
        sys.exit(f"wrong: {wrong}")
    sys.path.insert(0, str(TREE / "python"))
    import barracuda_magic  # pylint: disable=import-outside-toplevel
    barracuda_magic.command = lambda: str(BUILD / "bin/barracuda")
    barracuda_magic.barracuda("--device cpu", f"import subprocess\nsubprocess.run(['{BUILD}/programs/shared_sum_race'])\n")
    # The interrupt of a notebook, while the cell runs without end.
    threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with contextlib.redirect_stderr(io.StringIO()) as report:
        barracuda_magic.barracuda("--device cpu", f"import os\nos.execl('{BUILD}/programs/ends', 'ends', 'loop')\n")
    if "BARRACUDA SUMMARY: 3 races" not in report.getvalue():
        sys.exit(f"wrong: the report of an interrupted cell: {report.getvalue()}")
    print("as expected")


if __name__ == "__main__":
    main()
