#!/usr/bin/env python3
"""Installs the wheel into a fresh virtual environment and tries it there: tools/try_wheel.py [--build FOLDER | --wheel FILE]

A racy and a clean program on the emulated device, a pipe that is closed, the plug-in of pytest, and programs of numba;
then the wheel is uninstalled, and nothing may be left. pytest and numba come from PyPI: without a network what needs
them is left out, and said. Exit status 77 where there is no pip (Debian: python3-pip).
"""
import argparse
import base64
import csv
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
NUMBA = ["numba-cuda==0.30.4", "numba==0.68.1", "cuda-core==1.2.2"]
TESTS = '''
import os, subprocess
def test_race(): subprocess.run([os.environ["PROGRAMS"] + "/shared_sum_race"], check=True)
def test_fixed(): subprocess.run([os.environ["PROGRAMS"] + "/shared_sum_fixed"], check=True)
'''
arguments = argparse.Namespace()


def toolkit_of(build):
    """CUDA_HOME, in which numba finds what compiles."""
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        if name.startswith("BARRACUDA_NVCC:"):
            return str(Path(value).resolve().parents[1])
    return ""


def new_in(folder, before):
    return sorted(str(path) for path in folder.rglob("*") if path not in before)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="barracuda-wheel-")
        cls.folder = Path(cls.temporary.name).resolve()
        cls.environment = cls.folder / "environment"
        cls.command = cls.environment / "bin/barracuda"
        cls.python = str(cls.environment / "bin/python")
        # Without its own pip, which Debian has in python3-venv: this Python's installs into it.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.environment], check=True)
        cls.has_pytest = cls.fetch("pytest==9.2.0")
        cls.has_numba = cls.fetch(*NUMBA)
        cls.wheel = arguments.wheel
        if cls.wheel is None:
            made = subprocess.run([sys.executable, TREE / "tools/make_wheel.py", "--build", arguments.build, "--output", cls.folder],
                                  stdout=subprocess.PIPE, text=True, check=True)
            cls.wheel = Path(made.stdout.strip())
        cls.before = set(cls.environment.rglob("*"))
        cls.pip("install", "--no-index", str(cls.wheel))

    @classmethod
    def tearDownClass(cls):
        cls.pip("uninstall", "--yes", "barracuda")
        # Others' compiled modules come and go, and pytest keeps one of every plug-in, which pip does not know.
        left = [path for path in new_in(cls.environment, cls.before)
                if "__pycache__" not in path or ("barracuda" in path and "-pytest-" not in path)]
        cls.temporary.cleanup()
        if left:
            raise AssertionError(f"left behind: {left}")

    @classmethod
    def pip(cls, *words):
        ended = subprocess.run([sys.executable, "-m", "pip", "--python", cls.python, "--disable-pip-version-check", *words], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if ended.returncode != 0:
            raise AssertionError(ended.stdout)

    @classmethod
    def fetch(cls, *packages):
        try:
            cls.pip("install", "--quiet", "--retries", "1", "--timeout", "20", *packages)
        except AssertionError as problem:
            print(f"left out: {', '.join(packages)} could not be fetched: {str(problem).strip().splitlines()[-1]}")
            return False
        return True

    def run_in(self, *command, **variables):
        """As a user who knows nothing of the build folder."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("BARRACUDA_", "PYTHON"))}
        own.update({"PATH": f"{self.environment}/bin:/usr/bin:/bin", "XDG_CACHE_HOME": str(self.folder / "cache"), **variables})
        return subprocess.run([str(word) for word in command], cwd=self.folder, env=own, text=True, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def program(self, name):
        return self.run_in("barracuda", "run", "--device", "cpu", "--", arguments.build / "programs" / name)

    def test_a_race_and_its_fixed_twin(self):
        racy, fixed = self.program("shared_sum_race"), self.program("shared_sum_fixed")
        self.assertEqual(racy.returncode, 66, racy.stdout)
        self.assertIn("intra-block race on shared memory", racy.stdout)
        self.assertEqual(fixed.returncode, 0, fixed.stdout)
        self.assertIn("coverage complete", fixed.stdout)

    def test_the_record_is_that_of_the_files(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
            rows = list(csv.reader(archive.read(record).decode().splitlines()))
            self.assertEqual([row[0] for row in rows], names)
            for path, digest, size in rows[:-1]:
                data = archive.read(path)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), ("sha256=" + found, str(len(data))), path)

    def test_the_tag_names_the_c_library_that_is_needed(self):
        [tag] = [part for part in self.wheel.name.split("-") if part.startswith("manylinux_")]
        needed = self.run_in("sh", "-c", f"objdump -T {self.environment}/lib/python*/site-packages/barracuda/bin/barracuda "
                             f"{self.environment}/lib/python*/site-packages/barracuda/lib/*.so* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1")
        self.assertEqual("manylinux_" + needed.stdout.strip()[len("GLIBC_"):].replace(".", "_"),
                         "_".join(tag.split("_")[:3]))

    def test_python_in_front_of_the_command_changes_nothing(self):
        def environment_under(command):
            ended = subprocess.run(["env", "-i", f"XDG_CACHE_HOME={self.folder}/cache", str(command), "run", "--device", "cpu", "--", "/usr/bin/env"],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            return sorted(line.split("=")[0] for line in ended.stdout.splitlines())
        [own] = (self.environment / "lib").glob("python*/site-packages/barracuda/bin/barracuda")
        self.assertIn("XDG_CACHE_HOME", environment_under(self.command))
        self.assertEqual(environment_under(self.command), environment_under(own))
        # 141: ended by SIGPIPE, which Python ignores.
        piped = self.run_in("bash", "-c", "barracuda help --markdown | true; barracuda run --device cpu -- yes | head -n 1; echo ${PIPESTATUS[0]}")
        self.assertEqual(piped.stdout.split()[-1], "141", piped.stdout)

    def test_as_a_module_with_the_files_of_a_prefix(self):
        self.assertEqual(self.run_in(self.python, "-m", "barracuda", "--version").stdout, self.run_in("barracuda", "--version").stdout)
        prefix = self.run_in(self.python, "-c", "import barracuda; print(barracuda.PREFIX)").stdout.strip()
        for name in ("lib/cmake/barracuda/barracuda-config.cmake", "share/man/man1/barracuda.1", "share/doc/barracuda/docs/FINDINGS.md"):
            self.assertTrue((Path(prefix) / name).is_file(), name)
        magic = self.run_in(self.python, "-c", "import barracuda_magic; print(barracuda_magic.command())").stdout.strip()
        self.assertEqual(magic, prefix + "/bin/barracuda")

    def test_the_plug_in_of_pytest(self):
        if not self.has_pytest:
            self.skipTest("no pytest")
        (self.folder / "test_kernels.py").write_text(TESTS, encoding="utf-8")
        ended = self.run_in("pytest", "-rA", "-p", "no:cacheprovider", "--barracuda", "--barracuda-option", "device=cpu",
                            "test_kernels.py", PROGRAMS=str(arguments.build / "programs"))
        self.assertIn("FAILED test_kernels.py::test_race", ended.stdout)
        self.assertIn("intra-block race on shared memory", ended.stdout)
        self.assertIn("PASSED test_kernels.py::test_fixed", ended.stdout)
        without = self.run_in("pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "test_kernels.py")
        self.assertEqual(without.returncode, 0, without.stdout)

    def test_numba(self):
        if not self.has_numba:
            self.skipTest("no numba")
        for verdict, status in (("race", 66), ("fixed", 0)):
            ended = self.run_in("barracuda", "run", "--device", "cpu", "--", self.python, "-W", "ignore",
                                TREE / "examples/python/kernels.py", "block_sum", verdict, CUDA_HOME=toolkit_of(arguments.build))
            self.assertEqual(ended.returncode, status, ended.stdout)
            self.assertIn("coverage complete", ended.stdout)
        self.assertEqual(ended.stdout.count("race on"), 0, ended.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=TREE / "build")
    parser.add_argument("--wheel", type=Path, help="try this one (default: make it of the build)")
    parser.parse_args(namespace=arguments)
    arguments.build = arguments.build.resolve()
    if subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("skipped: there is no pip (Debian: python3-pip)")
        return 77
    return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
