#!/usr/bin/env python3
"""CUTLASS's kernels for sm_90, and racy twins of them, under the tool on the emulated device.

    tools/try_cutlass.py --source FOLDER [--work FOLDER] [--seeds N] [NAME...]
    tools/try_cutlass.py --work FOLDER --device gpu [--size N] [NAME...]

FOLDER is CUTLASS's own tree, with include/ and tools/util/include/; the wheel nvidia-cutlass has it as
cutlass_library/source. Nothing of it is in this tree. Each program is tools/cutlass/gemm.cu; a twin is
compiled with one of CUTLASS's headers changed in a copy below --work (default: build/cutlass). A program as
it is must compute the right numbers, without a finding and with complete coverage, under round robin
and the seeds 1 to N (default 20); of a twin each run must report a race. Prints a row for each, and
ends with status 1 if one is wrong. nvcc takes minutes for each.

On a GPU each runs once, and the programs then as products of N x N x N (default: 4096), timed by events without the
tool and with it. Programs that are in --work are not built again, and need no --source.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 120  # seconds of a timed program, which makes eleven products
NAMES = ("pingpong", "cooperative", "stream_k", "no_smem", "grouped")
LOOP = "cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp"
GROUPED_LOOP = "cutlass/gemm/collective/sm90_mma_array_tma_gmma_ss_warpspecialized.hpp"
EPILOGUE = "cutlass/epilogue/collective/sm90_epilogue_tma_warpspecialized.hpp"
# Twin: the program, the header, what is replaced in it, and by what.
TWINS = {
    "pingpong_no_wait": ("pingpong", LOOP, r"pipeline\.consumer_wait\([^;]*;", "(void)barrier_token;"),
    "pingpong_no_proxy_fence": ("pingpong", EPILOGUE, r"cutlass::arch::fence_view_async_shared\(\);", ""),
    "stream_k_wait_too_lax": ("stream_k", LOOP, r"warpgroup_wait<K_PIPE_MMAS>", "warpgroup_wait<K_PIPE_MMAS + 1>"),
    "grouped_map_not_acquired": ("grouped", GROUPED_LOOP, r"cute::tma_descriptor_fence_acquire\([^;]*;", ""),
    "grouped_map_not_waited_for": ("grouped", GROUPED_LOOP, r"cute::tma_desc_(commit|wait)_group\(\);", ""),
}


def changed_headers(source, work, twin):
    """A copy of links to CUTLASS's headers, of which one is changed."""
    _, header, pattern, replacement = TWINS[twin]
    copy = work / ("include_" + twin)
    subprocess.run(["cp", "-rs", "--remove-destination", str(source / "include") + "/.", str(copy)], check=True)
    text = (source / "include" / header).read_text(encoding="utf-8")
    changed, count = re.subn(pattern, replacement, text)
    if count == 0:
        sys.exit("%s: nothing to change in %s" % (twin, header))
    (copy / header).unlink()
    (copy / header).write_text(changed, encoding="utf-8")
    return copy


def build(source, work, name):
    binary = work / name
    if binary.exists():
        return binary
    if source is None:
        sys.exit("%s has to be built: --source FOLDER, with CUTLASS's tree" % name)
    work.mkdir(parents=True, exist_ok=True)
    kernel = NAMES.index(TWINS[name][0] if name in TWINS else name)
    include = changed_headers(source, work, name) if name in TWINS else source / "include"
    subprocess.run(["nvcc", "-std=c++17", "-w", "-DKERNEL=%d" % kernel, "-lineinfo", "-cudart", "shared",
                    "-gencode", "arch=compute_90a,code=[compute_90a]", "-I", str(include),
                    "-I", str(source / "tools/util/include"), str(ROOT / "tools/cutlass/gemm.cu"),
                    "-o", str(binary), "-lcuda"], check=True)
    return binary


def run(barracuda, binary, device, schedule):
    program = [str(binary), "1024"] if "too_lax" in binary.name else [str(binary)]
    result = subprocess.run([barracuda, "run", "--device", device, *schedule, "--", *program], timeout=600,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    text = result.stdout
    return {"clean": "SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete" in text,
            "right": "started 1, no error, 0 wrong" in text,
            "races": " race on " in text}


def milliseconds(command):
    """Of a launch, and what the tool's last line says; none where the program did not end."""
    try:
        result = subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False)
    except subprocess.TimeoutExpired:
        return None, "not ended in %d s" % LIMIT
    timed = re.search(r"^(\d+\.\d+) ms$", result.stdout, re.M)
    coverage = re.search(r"^BARRACUDA SUMMARY: (.*)$", result.stdout, re.M)
    if timed is None or " 0 wrong" not in result.stdout:
        sys.exit(result.stdout)
    return float(timed[1]), coverage[1] if coverage else ""


def slowdowns(arguments, size):
    print("| product of %d x %d x %d | native, ms | with the tool | ratio | |\n| --- | ---: | ---: | ---: | --- |" % (size, size, size))
    for name in arguments.names or NAMES:
        if name not in NAMES or name == "grouped":  # three products of different sizes
            continue
        program = [str(build(arguments.source, arguments.work, name)), *3 * [str(size)]]
        native, why = milliseconds(program)
        if native is None:
            sys.exit("%s: %s, without the tool" % (name, why))
        ours, summary = milliseconds([arguments.barracuda, "run", "--device", "gpu", "--", *program])
        figures = "- | -" if ours is None else "%.3f | %.1f x" % (ours, ours / native)
        print("| %s | %.3f | %s | %s |" % (name, native, figures, summary), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/cutlass")
    parser.add_argument("--barracuda", default=str(ROOT / "build/bin/barracuda"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--size", type=int, default=4096)
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    schedules = [["--workers", "1"]] + [["--seed", str(seed)] for seed in range(1, arguments.seeds + 1)]
    if arguments.device == "gpu":
        schedules = [[]]
    status = 0
    print("| program | schedules | as expected | |\n| --- | ---: | ---: | --- |")
    for name in arguments.names or [*NAMES, *TWINS]:
        binary = build(arguments.source, arguments.work, name)
        runs = [run(arguments.barracuda, binary, arguments.device, schedule) for schedule in schedules]
        good = sum(one["races"] if name in TWINS else one["clean"] and one["right"] for one in runs)
        status = status or good != len(runs)
        print("| %s | %d | %d | %s |" % (name, len(runs), good, "race" if name in TWINS else "clean, right numbers"), flush=True)
    if arguments.device == "gpu":
        slowdowns(arguments, arguments.size)
    return status


if __name__ == "__main__":
    sys.exit(main())
