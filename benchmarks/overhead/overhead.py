#!/usr/bin/env python3
"""What the tool costs on a GPU: every benchmark program native, under the tool (first and second run)
and under racecheck, in one slice of time each, as a table with the geometric means.

--at small runs each at its small size. --at large makes the work four times as much until the kernels
take 10 ms natively, or a native run a second, and prints the kernels' cost at each size on the way: does it grow
with the work? Results are kept in --state, one JSON line a program, so that a run that was cut short goes
on where it stopped; --print only prints the tables. Kernel times come from events around every launch
(kernel_time.cu), in runs of their own but under racecheck, which waits for each launch by itself; wall
times are of the whole process.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# The small size of each program: long enough on a GPU to be timed, and not too long under the tools.
SIZES = {
    "backprop": 1024, "barrier_pipeline": 256, "bfs": 200000, "block_reduction_cg": 50000,
    "cluster_histogram": 400000,
    "cub_block_radix_sort": 256, "cub_block_reduce": 512, "cub_block_scan": 256,
    "cub_device_partition_flagged": 1000000, "cub_device_reduce": 1000000,
    "cub_device_scan": 1000000, "cub_device_select_flagged": 1000000,
    "cub_device_select_if": 1000000, "cub_device_select_unique": 1000000,
    "cub_device_sort_runs": 200000, "dwt2d": 48, "dxtc": 128, "fdtd3d": 48, "gaussian": 192, "grid_sync": 100000,
    "hashtable": 16384, "hashtable_fenced": 16384, "histogram": 1024, "hotspot": 512,
    "hybridsort": 50000, "jacobi_graph": 640, "kmeans": 20000, "lavamd": 4, "merge_sort": 65536,
    "needle": 24, "nn": 500000, "pathfinder": 50000, "separable_convolution": 256,
    "shoc_bfs": 50000, "srad": 256, "streamcluster": 10000, "thread_fence_reduction": 1048576,
    "thrust_scan": 500000, "thrust_sort": 200000, "tiled_product": 8, "wmma_gemm": 4,
}
# By what the size grows where the work is to be four times as much: of squares and cubes their sides, and some
# programs do more rounds on more data.
GROWTH = {name: 2 for name in ("dwt2d", "histogram", "hotspot", "jacobi_graph", "needle")}
GROWTH.update({name: 4 ** (1 / 3) for name in ("gaussian", "lavamd", "separable_convolution", "srad", "tiled_product",
                                               "wmma_gemm")})
GROWTH["fdtd3d"] = 4 ** (1 / 4)
LARGE_MILLISECONDS = 10
LARGE_STEPS = 6  # 4096 times the small size's work at most
NATIVE_SECONDS = 1


class Run:
    """One run of a command: its wall time, peak memory, output, status as of wait; timed_out if it was ended."""

    def __init__(self, command, environment, seconds):
        start = time.monotonic()
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            process = subprocess.Popen(command, env=environment, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            self.timed_out = False
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - start > seconds:
                    self.timed_out = True
                    os.killpg(process.pid, 9)
                    _, status, usage = os.wait4(process.pid, 0)
                    break
                time.sleep(0.002)
            process.returncode = self.status = status
            self.seconds = time.monotonic() - start
            self.megabytes = usage.ru_maxrss / 1024
            output.seek(0)
            self.output = output.read()


def find_sanitizer(cuda):
    """compute-sanitizer, from PATH or the toolkit; None without it."""
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=os.path.join(cuda, "bin"))


class Bench:
    def __init__(self, arguments):
        self.build = os.path.abspath(arguments.build)
        self.seconds = arguments.limit
        self.racecheck_seconds = arguments.racecheck
        self.options = "".join(":" + option for option in arguments.option)
        self.folder = tempfile.mkdtemp()
        self.shim = arguments.shim or self.build_shim(arguments.cuda)
        self.tool = os.path.join(self.build, "lib", "libbarracuda.so")
        self.sanitizer = find_sanitizer(arguments.cuda)

    def build_shim(self, cuda):
        shim = os.path.join(self.folder, "kernel_time.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel_time.cu")
        subprocess.run([os.path.join(cuda, "bin", "nvcc"), "-std=c++20", "-O2", "-shared",
                        "-cudart", "shared", "-Xcompiler", "-fPIC", source, "-o", shim], check=True)
        return shim

    def run(self, command, preload=(), timed=False, seconds=None):
        """The run, and its kernels' (launches, milliseconds) if they are timed."""
        environment = dict(os.environ)
        times = os.path.join(self.folder, "times")
        libraries = list(preload)
        if timed:
            libraries.insert(0, self.shim)
            environment["KERNEL_TIME_FILE"] = times
            if os.path.exists(times):
                os.remove(times)
        if libraries:
            environment["LD_PRELOAD"] = " ".join(libraries)
        if self.tool in libraries:
            environment["BARRACUDA_OPTIONS"] = (
                "print-limit=1:log=session/info:json=%s" % self.json_file() + self.options)
        run = Run(command, environment, seconds or self.seconds)
        kernels = None
        if timed and os.path.exists(times):
            with open(times, encoding="utf-8") as file:
                launches, milliseconds = file.readline().split()
                kernels = (int(launches), float(milliseconds))
        return run, kernels

    def json_file(self):
        return os.path.join(self.folder, "findings.jsonl")

    def findings(self):
        try:
            with open(self.json_file(), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            os.remove(self.json_file())
            return lines[-1]["races"], lines[-1]["coverage"]
        except (OSError, IndexError, KeyError, ValueError):
            return None, "none"

    def native(self, program):
        runs = [self.run(program)[0] for _ in range(3)]
        _, kernels = self.run(program, timed=True)
        return {"seconds": min(run.seconds for run in runs), "kernels": kernels,
                "megabytes": min(run.megabytes for run in runs),
                "right": runs[0].output.strip().endswith("ok")}

    def ours(self, program):
        first, _ = self.run(program, [self.tool])
        self.findings()
        second, _ = self.run(program, [self.tool])
        races, coverage = self.findings()
        timed, kernels = self.run(program, [self.tool], timed=True)
        return {"first": first.seconds, "seconds": second.seconds, "kernels": kernels,
                "megabytes": second.megabytes, "races": races, "coverage": coverage,
                "records": records_of(second.output), "busy": busy_of(second.output),
                "right": "ok\n" in second.output, "timed_out": second.timed_out or timed.timed_out}

    def racecheck(self, program):
        if self.sanitizer is None or self.racecheck_seconds == 0:
            return None
        command = [self.sanitizer, "--tool", "racecheck"] + program
        run, kernels = self.run(command, timed=True, seconds=self.racecheck_seconds)
        hazards = re.search(r"RACECHECK SUMMARY: (\d+) hazard", run.output)
        return {"timed_out": run.timed_out, "seconds": run.seconds, "kernels": kernels,
                "hazards": int(hazards.group(1)) if hazards else None, "megabytes": run.megabytes}

    def command(self, name, size):
        return [os.path.join(self.build, "programs", "bench_" + name), str(size)]

    def measure(self, name, size):
        program = self.command(name, size)
        return {"name": name, "size": size, "native": self.native(program),
                "ours": self.ours(program), "racecheck": self.racecheck(program)}

    def grow(self, name):
        """Of each size up to the large one [work, size, milliseconds of its kernels], natively."""
        sizes = []
        for step in range(LARGE_STEPS + 1):
            size = round(SIZES[name] * GROWTH.get(name, 4) ** step)
            run, kernels = self.run(self.command(name, size), timed=True)
            if kernels is None or not run.output.strip().endswith("ok"):
                break
            sizes.append([4 ** step, size, kernels[1]])
            if kernels[1] >= LARGE_MILLISECONDS or run.seconds > NATIVE_SECONDS:
                break
        return sizes

    def measure_large(self, name):
        """At the large size; its "curve": for each size up to it [work, size, native and our kernels' milliseconds]."""
        sizes = self.grow(name)
        result = self.measure(name, sizes[-1][1] if sizes else SIZES[name])
        curve = []
        for work, size, native in sizes:
            kernels = (result["ours"]["kernels"] if size == result["size"]
                       else self.run(self.command(name, size), [self.tool], timed=True)[1])
            curve.append([work, size, native, kernels and kernels[1]])
        result["curve"] = curve
        return result


def records_of(output):
    """(records, slots, bytes of a slot) that the tool says it read."""
    said = re.search(r"(\d+) records in (\d+) slots of (\d+) bytes", output)
    return [int(number) for number in said.groups()] if said else None


def busy_of(output):
    """Seconds: detecting, of how long, of it on several threads, that for all of them."""
    said = re.search(r"busy ([\d.]+) s of ([\d.]+) s; ([\d.]+) s of it on several threads, "
                     r"([\d.]+) s for them all", output)
    return [float(number) for number in said.groups()] if said else None


def busy_threads(result):
    """Threads that detect, on average while anything is detected."""
    busy = result["ours"].get("busy")
    return ratio(busy and busy[0] - busy[2] + busy[3], busy and busy[0])


def busy_share(result):
    """How much of the run something is detected."""
    busy = result["ours"].get("busy")
    return ratio(busy and 100 * busy[0], result["ours"]["seconds"])


def bytes_per_record(result):
    records = result["ours"].get("records")
    return records and records[1] * records[2] / records[0]


def record_rate(result):
    """Millions of records a second of the whole run."""
    records = result["ours"].get("records")
    return records and records[0] / result["ours"]["seconds"] / 1e6


def ratio(part, whole):
    return part / whole if part is not None and whole else None


def kernel_ratio(result, tool):
    measured = result[tool] and result[tool]["kernels"]
    return ratio(measured and measured[1], (result["native"]["kernels"] or (0, 0))[1])


def wall_ratio(result, tool, key="seconds"):
    return ratio(result[tool] and result[tool][key], result["native"]["seconds"])


def shown(value, form="%.1f"):
    return "-" if value is None else form % value


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


COLUMNS = [
    ("program", lambda r: r["name"]),
    ("size", lambda r: r["size"]),
    ("kernel ms", lambda r: shown((r["native"]["kernels"] or (0, None))[1], "%.3f")),
    ("wall s", lambda r: shown(r["native"]["seconds"], "%.2f")),
    ("ours: kernel x", lambda r: shown(kernel_ratio(r, "ours"))),
    ("wall x, 1st run", lambda r: shown(wall_ratio(r, "ours", "first"))),
    ("2nd run", lambda r: shown(wall_ratio(r, "ours"))),
    ("MB", lambda r: shown(r["ours"]["megabytes"], "%.0f")),
    ("M records/s", lambda r: shown(record_rate(r), "%.2f")),
    ("detecting, % of the run", lambda r: shown(busy_share(r), "%.0f")),
    ("by threads", lambda r: shown(busy_threads(r))),
    ("bytes a record", lambda r: shown(bytes_per_record(r), "%.0f")),
    ("races", lambda r: ("ended " if r["ours"]["timed_out"] else "") + shown(r["ours"]["races"], "%d")),
    ("coverage", lambda r: r["ours"]["coverage"]),
    ("racecheck: kernel x", lambda r: shown(kernel_ratio(r, "racecheck"))),
    ("wall x", lambda r: shown(wall_ratio(r, "racecheck"))),
    ("MB", lambda r: shown(r["racecheck"] and r["racecheck"]["megabytes"], "%.0f")),
    ("hazards", lambda r: "> %.0f s" % r["racecheck"]["seconds"]
     if r["racecheck"] and r["racecheck"]["timed_out"]
     else shown(r["racecheck"] and r["racecheck"]["hazards"], "%d")),
]


def print_curves(results):
    """What the kernels cost at each size, by the work in times of the small size's."""
    works = [4 ** step for step in range(LARGE_STEPS + 1)]
    print("\n| program | " + " | ".join("work x %d" % work for work in works) + " |")
    print("|" + " --- |" * (1 + len(works)))
    for result in results:
        costs = {work: "%s (%.2f ms)" % (shown(ratio(ours, native), "%.1f x"), native)
                 for work, _, native, ours in result["curve"]}
        print("| " + " | ".join([result["name"]] + [costs.get(work, "") for work in works]) + " |")


def print_table(results):
    print("| " + " | ".join(name for name, _ in COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for result in results:
        print("| " + " | ".join(str(cell(result)) for _, cell in COLUMNS) + " |")
    for title, of in [("ours, kernel time", lambda r: kernel_ratio(r, "ours")),
                      ("ours, wall time of the second run", lambda r: wall_ratio(r, "ours")),
                      ("racecheck, kernel time", lambda r: kernel_ratio(r, "racecheck")),
                      ("racecheck, wall time", lambda r: wall_ratio(r, "racecheck"))]:
        print("geometric mean, %s: %s x" % (title, shown(geometric_mean(map(of, results)))))
    print("geometric mean, bytes a record: %s (the paper's records: 272)"
          % shown(geometric_mean(map(bytes_per_record, results))))
    both = [(kernel_ratio(r, "ours"), kernel_ratio(r, "racecheck")) for r in results]
    both = [(ours, theirs) for ours, theirs in both if ours and theirs]
    print("kernel time below racecheck's: %d of %d" % (sum(a < b for a, b in both), len(both)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--shim", help="kernel_time.cu as a library; built where not given")
    parser.add_argument("--at", choices=["small", "large"], default="small", help="the sizes")
    parser.add_argument("--state", help="overhead.SIZES.jsonl")
    parser.add_argument("--seconds", type=float, default=540, help="start no program after this")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--racecheck", type=float, default=30, help="seconds for one run under racecheck; 0: none")
    parser.add_argument("--only", default="", help="a regular expression of program names")
    parser.add_argument("--option", action="append", default=[],
                        help="of the tool, as queue-slots=262144, where kernels seldom wait for room")
    parser.add_argument("--print", action="store_true", help="only print what was measured")
    arguments = parser.parse_args()

    results = []
    state = arguments.state or "overhead.%s.jsonl" % arguments.at
    if os.path.exists(state):
        with open(state, encoding="utf-8") as file:
            results = [json.loads(line) for line in file]
    measured = {result["name"] for result in results}
    left = [name for name in SIZES if re.search(arguments.only, name) and name not in measured]
    if left and not arguments.print:
        end = time.monotonic() + arguments.seconds
        bench = Bench(arguments)
        while left and time.monotonic() < end:
            name = left.pop(0)
            print("%s ..." % name, file=sys.stderr, flush=True)
            results.append(bench.measure_large(name) if arguments.at == "large"
                           else bench.measure(name, SIZES[name]))
            with open(state, "a", encoding="utf-8") as file:
                file.write(json.dumps(results[-1]) + "\n")
    print_table(results)
    print_curves([result for result in results if "curve" in result])
    if left:
        print("not measured yet: " + " ".join(left))
    return 0


if __name__ == "__main__":
    sys.exit(main())
