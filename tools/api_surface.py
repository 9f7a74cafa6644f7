#!/usr/bin/env python3
"""Tells which of CUDA's exports the emulated device has: tools/api_surface.py [--list].

Reads what libcudart.so.13 and libcuda.so.1 export and which of it is emulated (emulator/libcudart.def,
emulator/libcuda.def), and the toolkit's headers. Prints, by area, how many are implemented and how many
answer "not supported"; --list names the latter. Versions of one function (_v2, _ptsz, ...) count as one.
"""
import re
import shutil
import sys
from pathlib import Path

from cuda_tables import DRIVER, RUNTIME, rows

LIBRARIES = [("libcudart", RUNTIME, "cuda_runtime_api.h"), ("libcuda", DRIVER, "cuda.h")]
VERSION = re.compile(r"(_v\d+)?(_ptsz|_ptds)?$")

# The first pattern that matches a name without its prefix tells the area.
AREAS = [
    ("graphics interoperation", r"GL|EGL|VDPAU|Graphics|NvSci"),
    ("textures, surfaces, mipmaps", r"Tex|Surf|Mipmap|Sparse|MapArray|ArrayGet(Plane|Memory)"),
    ("other processes and machines", r"Ipc|External|MemPool(Ex|Im)port|HandleForAddress|Checkpoint"),
    ("tensor maps, multicast, decompression", r"TensorMap|Multicast|Decompress"),
    ("green contexts", r"Green|DevResource|SmResource|ExecAffinity|FromGreen"),
    ("stream memory operations", r"Stream(Wait|Write)Value|BatchMemOp"),
    ("launches of old", r"^(Launch(Grid.*)?|ParamSet.*|FuncSet(BlockShape|SharedSize))$|MultiDevice"),
    ("logs, core dumps, notifications", r"Logs|Coredump|Notification"),
    ("graphs", r"Graph|UserObject"),
    ("capture and streams", r"Stream"),
    ("events", r"Event"),
    ("modules, libraries, kernels", r"Module|Library|Kernel|Link|Func|Register|Symbol|Occupancy|Launch|Configuration"),
    ("memory", r"Mem|Malloc|Free|Host|Array|Pointer|Alloc"),
    ("devices, contexts, errors", r""),
]


def declared(header):
    """The functions in the toolkit's headers, macros that rename them included."""
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    path = Path(compiler).resolve().parent.parent / "include" / header
    if not path.exists():
        sys.exit(f"api_surface.py: no {path}")
    return set(re.findall(r"\b(cu\w+)\s*\(", path.read_text(errors="replace")))


def base_of(name):
    return VERSION.sub("", name)


def area_of(name):
    bare = re.sub(r"^_*cu(da)?", "", name)
    return next(area for area, pattern in AREAS if re.search(pattern, bare))


def survey(table, header):
    """By area: functions that are there, functions that are not, and old versions that are not."""
    have = set()
    known = declared(header)
    areas = {}
    versions = {}
    for row in rows(table):
        if table == DRIVER or row.numbers[1] == 13:
            versions.setdefault(base_of(row.name), set()).add(row.name)
            if row.is_emulated:
                have.add(row.name)
    for base, forms in versions.items():
        row = areas.setdefault(area_of(base), ([], [], []))
        if any(form in have for form in forms):
            row[0].append(base)
        elif forms & known or base in known:
            row[1].append(base)
        else:
            row[2].append(base)
    return areas


def main():
    lists = "--list" in sys.argv[1:]
    print("| library | area | implemented | not supported | not in the headers |")
    print("| --- | --- | ---: | ---: | ---: |")
    for library, table, header in LIBRARIES:
        areas = survey(table, header)
        for area, _ in AREAS:
            if area in areas:
                print(f"| {library} | {area} | " + " | ".join(str(len(part)) for part in areas[area]) + " |")
        sums = [sum(len(row[part]) for row in areas.values()) for part in range(3)]
        print(f"| {library} | **all** | " + " | ".join(map(str, sums)) + " |")
        for area, row in areas.items() if lists else ():
            for name in sorted(row[1] + row[2]):
                print(f"{library}: {area}: {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
