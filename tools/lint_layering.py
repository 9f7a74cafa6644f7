#!/usr/bin/env python3
"""Checks who includes whom. Reads file names, one a line, on standard input; takes the tree's root."""

import re
import sys
from pathlib import Path

# The folders whose public headers a folder may include, besides its own.
MAY_INCLUDE = {
    "base": "",
    "device_logger": "",
    "fatbin": "base",
    "ptx": "base device_logger",
    "host_detector": "base device_logger",
    "emulator": "base fatbin ptx",
    "report": "base host_detector ptx",
    "trace": "base device_logger ptx host_detector report",
    "session": "base device_logger fatbin ptx host_detector emulator report trace",
    "jit": "base",
    "preload": "base fatbin emulator report trace session jit",
    "weak_memory": "base device_logger fatbin ptx emulator session report host_detector trace",
    "cli": "base fatbin ptx host_detector report trace session weak_memory",
}
# Headers that another folder may include all the same. Of those of a subfolder docs/decisions/ says why;
# the emulator asks PTX's effects for their orders, which ptx/ has from device_logger/.
SHARED = {
    "preload": ("emulator/libcuda/copy/box.h",),
    "emulator": ("ptx/analysis/shared_layout.h", "ptx/analysis/source_frames.h", "device_logger/memory_order.h"),
    "weak_memory": ("host_detector/launches/launch_shape.h",),
}
# Within a folder: the subfolders, and headers beside them, that a subfolder may include besides its
# own. The headers beside the subfolders are for all of them and include none, but for those that
# are the folder's face (FACES): these may include everything, and only who names them may include
# them.
LAYERS = {
    "host_detector": {
        "clock": "",
        "shadow": "clock",
        "sync": "clock",
        "launches": "clock",
        "state": "clock shadow sync launches",
        "races": "clock shadow sync launches state",
        "happens_before": "clock shadow sync launches state races",
        "paper": "clock shadow launches state",
        "engines": "clock shadow sync launches state races happens_before paper detector.h",
        "queue": "launches detector.h pipeline.h",
    },
    "ptx": {
        "parser": "",
        "printer": "parser",
        "link": "parser",
        "analysis": "parser instrument.h literal_kernel.h",
        "hooks": "analysis",
        "passes": "analysis hooks parse.h",
    },
    "emulator": {
        "state": "machine.h memory.h",
        "execute": "state",
        "decode": "state execute machine.h",
        "schedules": "state execute machine.h",
        "libcuda": "state execute machine.h memory.h libcuda.h libcuda.def",
        "libcudart": "libcuda.h libcuda.def",
    },
    "weak_memory": {
        "memory_model": "",
        "store_buffer": "",
        "fence_search": "",
        "stress": "litmus.h litmus_run.h",
        "slice": "memory_model litmus.h",
        "repair": "store_buffer campaign.h race_slice.h",
    },
}
FACES = {
    "host_detector": ("detector", "pipeline", "replayer", "stream_order"),
    "ptx": ("code_view", "device_runtime", "edit_order", "fence_places", "fence_text", "inline_calls", "instrument",
            "link", "literal_kernel", "parse", "rename_registers", "split", "statement_name"),
    "emulator": ("libcuda", "machine", "memory"),
    "weak_memory": ("campaign", "findings", "hardening", "hardening_findings", "litmus", "litmus_run", "race_slice",
                    "repair", "stress_parameters", "tuning"),
}
FOLDERS = {folder: {folder, *others.split()} for folder, others in MAY_INCLUDE.items()}

CUDA = re.compile(
    r"(cuda|nv/|nvrtc|nvJitLink|cooperative_groups|cub/|thrust/|crt/|mma\.h|curand|cublas|cupti"
    r"|driver_types\.h|vector_types\.h|vector_functions\.h|builtin_types\.h|device_)")
# What is included with angle brackets, where it may be, and what it is.
THIRD_PARTY = [
    (CUDA, ("preload/", "emulator/libcuda/", "emulator/libcudart/"), "a CUDA header"),
    (re.compile(r"CLI/"), ("cli/",), "CLI11"),
    (re.compile(r"nlohmann/"), ("report/", "cli/"), "nlohmann-json"),
    (re.compile(r"(llvm|clang|mlir)(-c)?/"), None, "LLVM"),
]
# Programs that nvcc compiles one by one, without our include path.
PROGRAMS = ("tests/e2e/", "examples/", "benchmarks/", "litmus_suite/")
# Programs and tests may include CUDA and JSON, and files that lie beside them.
FREE = ("tests/", *PROGRAMS)

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def own_folder(path):
    """The folder of the tree that a file belongs to; a test belongs to the folder it tests."""
    parts = path.split("/")
    if parts[0] == "tests" and len(parts) > 3 and parts[2] in FOLDERS:
        return parts[2]
    return parts[0]


def fault_of_layers(path, included):
    """Why this file may not include this header of its own folder, or None."""
    folder, *rest = path.split("/")
    table = LAYERS.get(folder)
    if table is None or included.split("/")[0] != folder:
        return None
    target = included.split("/")[1:]
    is_face = len(rest) == 1 and Path(rest[0]).stem in FACES[folder]
    includes_beside = len(target) == 1 and Path(target[0]).stem not in FACES[folder]
    if is_face or includes_beside or target[0] == rest[0]:
        return None
    layer = rest[0] if len(rest) > 1 else None
    if layer is not None and layer not in table:
        return f"{folder}/{layer}/ has no row in the table of layers"
    if layer is None or target[0] not in table[layer].split():
        return f"{path.rsplit('/', 1)[0] if layer else path} may not include {folder}/{target[0]}"
    return None


def fault_of_ours(path, included):
    """Why this file may not include this header of the tree, or None."""
    parts = included.split("/")
    is_free = path.startswith(FREE)
    if len(parts) == 1 or parts[0] == "..":
        is_allowed = path.startswith(PROGRAMS) or (is_free and parts[0] != "..")
        return None if is_allowed else "includes are relative to the tree's root"
    owner, target = own_folder(path), parts[0]
    if included in SHARED.get(owner, ()):
        return None
    if target in FOLDERS and not is_free and target not in FOLDERS.get(owner, {target}):
        return f"{owner}/ may not include {target}/"
    # A benchmark measures what users never see.
    if target in FOLDERS and target != owner and len(parts) > 2 and owner != "benchmarks":
        return f"the subfolders of {target}/ are its own"
    return fault_of_layers(path, included)


def fault_of_others(path, included):
    """Why this file may not include this library's header, or None."""
    for pattern, places, name in THIRD_PARTY:
        if not pattern.match(included):
            continue
        if places is None:
            return f"{name} is included nowhere"
        is_device_code = pattern is CUDA and path.endswith((".cu", ".cuh"))
        if not (is_device_code or path.startswith(places) or path.startswith(FREE)):
            return f"{name} is only included in {', '.join(places)}"
    return None


def faults_in(path, text):
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        ours, others = match.groups()
        fault = fault_of_ours(path, ours) if ours else fault_of_others(path, others)
        if fault:
            yield f"{path}:{number}: {ours or others}: {fault}"


def main():
    root = Path(sys.argv[1])
    faults = []
    for path in sys.stdin.read().splitlines():
        faults += faults_in(path, (root / path).read_text(encoding="utf-8", errors="replace"))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
