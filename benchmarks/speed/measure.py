#!/usr/bin/env python3
"""The speed of the emulated device, without and with the tool, and beside Oclgrind.

Each program measures a kernel itself, from the first of its launches to when the last has ended and
was checked; starting the process, compiling and loading do not count. Of several runs the fastest
counts, for other load on the machine only ever adds time.

rates, scaling and memory need no toolkit: `pack --to FOLDER` copies what they run there, stripped,
and on another machine they take that folder as --build.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys

KERNELS = ["reduction", "matrix", "histogram", "stencil"]
MEMORY_CASES = ["arrays", "arrays, many blocks", "registers", "registers, small blocks"]
# Relative to the build folder.
PACKED = ["bin/barracuda", "lib/libbarracuda.so", "lib/libtbb.so.12", "programs/device_speed",
          "programs/device_memory", "plain_device/libbarracuda.plain_device.so"]


class Device:
    """One way to run a kernel: a command, its environment, and how many launches to measure."""

    def __init__(self, command, launches, environment=None):
        self.command = command
        self.launches = launches
        self.environment = dict(os.environ, **(environment or {}))

    def once(self, kernel):
        command = self.command + [kernel, str(self.launches)]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
        if not lines:
            sys.exit("%s failed with status %d:\n%s" %
                     (" ".join(command), result.returncode, result.stdout + result.stderr))
        figures = json.loads(lines[-1])
        if "0 races" not in result.stderr and "SUMMARY" in result.stderr:
            sys.exit("%s reports a race:\n%s" % (" ".join(command), result.stderr))
        return {name: figures.get(name, 0) / self.launches
                for name in ("seconds", "processor_seconds", "warp_instructions")}

    def best(self, kernel, runs):
        """Per launch: the least of each figure."""
        figures = [self.once(kernel) for _ in range(runs)]
        return {name: min(one[name] for one in figures) for name in figures[0]}


def plain_path(build):
    return build + "/plain_device:" + build + "/lib"


def plain_device(build, workers="0", launches=20):
    return Device([build + "/programs/device_speed"], launches,
                  {"LD_LIBRARY_PATH": plain_path(build), "PLAIN_WORKERS": workers})


def checked_device(build, launches=2):
    return Device([build + "/bin/barracuda", "run", "--device", "cpu", "--",
                   build + "/programs/device_speed"], launches)


def print_rates(build, runs):
    print("Warp instructions of the program per second of processor time (per core), in millions;"
          " with the tool,\nits logging, draining and detecting count as time, not as instructions.")
    print("%-12s %14s %10s %10s %8s" % ("kernel", "instructions", "plain", "checked", "ratio"))
    for kernel in ["arithmetic"] + KERNELS:
        plain = plain_device(build, workers="1").best(kernel, runs)
        checked = checked_device(build).best(kernel, runs)
        count = plain["warp_instructions"]
        rates = [count / one["processor_seconds"] / 1e6 for one in (plain, checked)]
        print("%-12s %14d %10.1f %10.2f %8.1f" % (kernel, count, *rates, rates[0] / rates[1]),
              flush=True)


def host_threads():
    """1, 2, 4, … and as many as this process may use."""
    cores = len(os.sched_getaffinity(0))
    return [count for count in (1, 2, 4, 8, 16, 32, 64) if count < cores] + [cores]


def print_scaling(build, runs, launches):
    """Blocks of these kernels need nothing of each other."""
    counts = host_threads()
    print("Milliseconds of a launch without the tool, by host threads; in brackets how often faster"
          " than one.")
    print("%-12s" % "kernel" + "".join("%18d" % count for count in counts))
    for kernel in ["arithmetic"] + KERNELS:
        seconds = [plain_device(build, str(count), launches).best(kernel, runs)["seconds"]
                   for count in counts]
        print("%-12s" % kernel + "".join(
            "%18s" % ("%.3f (%.2f)" % (one * 1e3, seconds[0] / one)) for one in seconds),
              flush=True)


def print_memory(build):
    """The two cases with registers keep all blocks that fit resident at once."""
    print("Megabytes: what the device was asked for, and by how much the process has grown at most.")
    print("%-24s %-14s %9s %10s %9s %9s %7s" %
          ("case", "", "process", "allocated", "registers", "grown", "ratio"))
    ways = [("plain", [], {"LD_LIBRARY_PATH": plain_path(build)}),
            ("detection off", [build + "/bin/barracuda", "run", "--device", "cpu",
                               "--kernel-name", "none", "--"], {})]
    for case in MEMORY_CASES:
        for way, command, environment in ways:
            command = command + [build + "/programs/device_memory", case]
            result = subprocess.run(command, env=dict(os.environ, **environment),
                                    capture_output=True, text=True)
            lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
            if not lines:
                sys.exit("%s failed:\n%s%s" % (command, result.stdout, result.stderr))
            figures = json.loads(lines[-1])
            needed = figures["allocated"] + figures["registers"]
            print("%-24s %-14s %9.1f %10.1f %9.1f %9.1f %7.2f" %
                  (case, way, *(figures[name] / 1e6 for name in
                                ("process", "allocated", "registers", "grown")),
                   figures["grown"] / needed), flush=True)


def pack(build, folder):
    for path in PACKED:
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(build, path), target)
        subprocess.run(["strip", target], check=False)
    for name in ("libcudart.so.13", "libcuda.so.1"):
        link = os.path.join(folder, "plain_device", name)
        if not os.path.lexists(link):
            os.symlink("libbarracuda.plain_device.so", link)
    print("packed into %s; there: benchmarks/speed/measure.py scaling --build %s" % (folder, folder))


def print_comparison(build, oclgrind, runs, figure):
    kernels = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oclgrind/kernels.cl")
    device = [build + "/opencl_speed", kernels]
    ways = [plain_device(build), Device([oclgrind] + device, 1),
            checked_device(build), Device([oclgrind, "--data-races"] + device, 1)]
    print("%s of a launch, all cores. Ours: CUDA; Oclgrind: the same kernels in OpenCL." %
          figure.replace("_", " ").capitalize())
    print("%-12s %10s %10s %8s | %10s %10s %8s" %
          ("kernel", "ours", "Oclgrind", "ratio", "checked", "--data-races", "ratio"))
    logarithms = [0.0, 0.0]
    for kernel in KERNELS:
        seconds = [way.best(kernel, runs)[figure] for way in ways]
        ratios = [seconds[1] / seconds[0], seconds[3] / seconds[2]]
        logarithms = [total + math.log(ratio) for total, ratio in zip(logarithms, ratios)]
        print("%-12s %10.5f %10.3f %8.1f | %10.5f %12.3f %8.1f" %
              (kernel, seconds[0], seconds[1], ratios[0], seconds[2], seconds[3], ratios[1]),
              flush=True)
    means = [math.exp(total / len(KERNELS)) for total in logarithms]
    print("%-12s %10s %10s %8.1f | %10s %12s %8.1f" %
          ("geometric mean", "", "", means[0], "", "", means[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["rates", "scaling", "memory", "oclgrind", "pack"])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--oclgrind", default="oclgrind")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--launches", type=int, default=20, help="of a scaling run")
    parser.add_argument("--to", default="speed_pack", help="the folder for pack")
    parser.add_argument("--figure", choices=["seconds", "processor_seconds"], default="seconds",
                        help="for the comparison; processor seconds where others use the machine")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    if arguments.what == "rates":
        print_rates(build, arguments.runs)
    elif arguments.what == "scaling":
        print_scaling(build, arguments.runs, arguments.launches)
    elif arguments.what == "memory":
        print_memory(build)
    elif arguments.what == "pack":
        pack(build, arguments.to)
    else:
        print_comparison(build, arguments.oclgrind, arguments.runs, arguments.figure)


if __name__ == "__main__":
    main()
