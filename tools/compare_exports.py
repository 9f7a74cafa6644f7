#!/usr/bin/env python3
"""Compares emulator/libcuda.def and emulator/libcudart.def with what NVIDIA's libraries export and from which
version cuGetProcAddress hands it out: tools/compare_exports.py [CUDA_HOME].

Reads the toolkit (libcudart.so.13, the stub of libcuda.so, the headers of typedefs) and the older libcudarts of
`tools/install_cuda.sh older`. Prints what the tables lack, have too much or say otherwise; exit status 1 if anything.
"""
import re
import subprocess
import sys
from pathlib import Path

from cuda_tables import DRIVER, RUNTIME, TREE, rows

PER_THREAD_SINCE = 7000
FORM = re.compile("_pt(sz|ds)$")


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[2].split("@")[0] for line in listed.stdout.splitlines() if line.split()[1] == "T"}


def versions(cuda, names):
    """By exported name: the versions that the typedefs list, newest first, meet the exported suffixes, newest first."""
    text = "".join((cuda / "include" / header).read_text() for header in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"))
    listed = {}
    for symbol, version, form in set(re.findall(r"PFN_(cu[A-Za-z0-9]*)_v(\d+)(_pt[ds][sz])?\)", text)):
        listed.setdefault((symbol, form), []).append(int(version))
    since = {}
    for (symbol, form), numbers in listed.items():
        forms = [symbol + suffix + form for suffix in ("", *(f"_v{n}" for n in range(2, 10)))]
        present = [name for name in forms if name in names]
        since.update(zip(reversed(present), sorted(numbers, reverse=True)))
    return since


def compare(what, ours, theirs):
    """Each by name; the values say from when, or in which library."""
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            print(f"{what}: {name}: the table says {ours.get(name, 'nothing')}, NVIDIA {theirs.get(name, 'nothing')}")
    return ours == theirs


def main():
    cuda = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda")
    names = exported(cuda / "lib64/stubs/libcuda.so")
    ours = {
        row.name: max(row.numbers[0], PER_THREAD_SINCE) if FORM.search(row.name) else row.numbers[0]
        for row in rows(DRIVER)
    }
    is_same = compare("libcuda.so", ours, {name: 0 for name in names} | versions(cuda, names))
    libraries = {
        13: cuda / "lib64/libcudart.so.13",
        12: next(TREE.glob("build/cuda-12.*/lib64/libcudart.so.12"), None),
        11: next(TREE.glob("build/cuda-11.*/lib64/libcudart.so.11.0"), None),
    }
    for number, library in libraries.items():
        if library is None:
            print(f"libcudart {number} is not here: tools/install_cuda.sh older")
            is_same = False
            continue
        mine = {row.name: number for row in rows(RUNTIME) if row.numbers[0] <= number <= row.numbers[1]}
        is_same &= compare(library.name, mine, dict.fromkeys(exported(library), number))
    sys.exit(0 if is_same else 1)


if __name__ == "__main__":
    main()
