#!/usr/bin/env python3
"""Makes a wheel of what `cmake --install` has installed: tools/make_wheel.py [--output FOLDER] TREE

With --build FOLDER instead of TREE, that build is installed first, stripped. A build of tools/build_portable.sh gives a
wheel for older systems; the tag says for which. The same tree makes the same bytes. docs/decisions/wheel.md.
"""
import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
FIRST_TIME = (1980, 1, 1, 0, 0, 0)  # of a file in a zip archive
METADATA = """Metadata-Version: 2.1
Name: barracuda
Version: {version}
Summary: finds the data races of CUDA programs
License: Apache-2.0
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.9
Description-Content-Type: text/markdown

Finds data races in CUDA programs, without recompiling them, on the GPU or without one:

    barracuda run -- python app.py
    pytest --barracuda

The documents lie in `share/doc/barracuda` below `python -c 'import barracuda; print(barracuda.PREFIX)'`.
"""
ENTRY_POINTS = """[console_scripts]
barracuda = barracuda:main

[pytest11]
barracuda_pytest = barracuda_pytest
"""
# Root-Is-Purelib: false, for it has machine code.
WHEEL = """Wheel-Version: 1.0
Generator: tools/make_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def fail(message):
    sys.exit("make_wheel.py: " + message)


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def version_of(tree):
    return re.match(r"barracuda (\S+)", output_of(tree / "bin/barracuda", "--version")).group(1)


def needed_glibc(files):
    """The newest version of the C library that one of the programs and libraries asks for: (2, 30)."""
    versions = {(2, 17)}  # no tag is older
    for file in files:
        if file.read_bytes()[:4] == b"\x7fELF":
            found = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", output_of("readelf", "--wide", "--version-info", file))
            versions.update((int(major), int(minor)) for major, minor in found)
    return max(versions)


def members_of(tree):
    """The path in the wheel of each file of the tree."""
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        path = file.relative_to(tree).as_posix()
        if path.startswith("share/barracuda/python/"):
            yield file.name, file  # imported by these names
        else:
            yield f"barracuda/{path}", file
    for file in sorted((TREE / "python/barracuda").glob("*.py")):
        yield f"barracuda/{file.name}", file


def digest_of(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(tree, output):
    """The wheel's path."""
    version = version_of(tree)
    members = dict(members_of(tree))
    tag = "py3-none-manylinux_%d_%d_%s" % (*needed_glibc(members.values()), os.uname().machine)
    information = f"barracuda-{version}.dist-info"
    texts = {"METADATA": METADATA.format(version=version), "WHEEL": WHEEL.format(tag=tag), "entry_points.txt": ENTRY_POINTS,
             "LICENSE": (TREE / "LICENSE").read_text(encoding="utf-8")}
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"barracuda-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(path, data, mode=0o644):
            member = zipfile.ZipInfo(path, FIRST_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100000 | mode) << 16
            archive.writestr(member, data)
            record.append(f"{path},{digest_of(data)},{len(data)}")

        for path, file in members.items():
            add(path, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        for name, text in texts.items():
            add(f"{information}/{name}", text.encode())
        add(f"{information}/RECORD", "".join(line + "\n" for line in [*record, f"{information}/RECORD,,"]).encode())
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path, nargs="?", metavar="TREE", help="the prefix of cmake --install")
    parser.add_argument("--build", type=Path, help="install this build, and take that")
    parser.add_argument("--output", type=Path, default=Path("."), help="the wheel's folder (default: this one)")
    arguments = parser.parse_args()
    if (arguments.tree is None) == (arguments.build is None):
        parser.error("either TREE or --build")
    with tempfile.TemporaryDirectory(prefix="barracuda-wheel-") as scratch:
        tree = arguments.tree or Path(scratch)
        if arguments.build is not None:
            subprocess.run(["cmake", "--install", arguments.build, "--strip", "--prefix", tree],
                           stdout=subprocess.DEVNULL, check=True)
        if not (tree / "bin/barracuda").exists():
            fail(f"{tree}: there is no bin/barracuda")
        print(write_wheel(tree, arguments.output))


if __name__ == "__main__":
    main()
