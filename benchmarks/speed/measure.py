#!/usr/bin/env python3
"""The speed of the emulated device, without and with the tool, and beside Oclgrind.

Each program measures a kernel itself, from the first of its launches to when the last has ended and
was checked; starting the process, compiling and loading do not count. Of several runs the fastest
counts, for other load on the machine only ever adds time.
"""
import argparse
import json
import math
import os
import subprocess
import sys

KERNELS = ["reduction", "matrix", "histogram", "stencil"]


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


def plain_device(build, workers="0", launches=20):
    return Device([build + "/programs/device_speed"], launches,
                  {"LD_LIBRARY_PATH": build + "/plain_device", "PLAIN_WORKERS": workers})


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


def print_scaling(build, runs):
    print("Seconds of a launch with one host thread and with two.")
    print("%-12s %10s %10s %8s" % ("kernel", "one", "two", "ratio"))
    for kernel in ["arithmetic"] + KERNELS:
        one, two = (plain_device(build, workers).best(kernel, runs)["seconds"]
                    for workers in ("1", "2"))
        print("%-12s %10.5f %10.5f %8.2f" % (kernel, one, two, one / two), flush=True)


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
    parser.add_argument("what", choices=["rates", "scaling", "oclgrind"])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--oclgrind", default="oclgrind")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--figure", choices=["seconds", "processor_seconds"], default="seconds",
                        help="for the comparison; processor seconds where others use the machine")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    if arguments.what == "rates":
        print_rates(build, arguments.runs)
    elif arguments.what == "scaling":
        print_scaling(build, arguments.runs)
    else:
        print_comparison(build, arguments.oclgrind, arguments.runs, arguments.figure)


if __name__ == "__main__":
    main()
