#!/usr/bin/env python3
"""What the tool costs on public CUDA programs at their own sizes (NVIDIA's samples, Rodinia): each native and under
`barracuda run` with each set of options, and with --racecheck under compute-sanitizer's racecheck, one after the other,
as a table with the geometric means.

--programs has the binaries by the names of PROGRAMS; nothing of them is kept in this repository. Those that are not
there are left out. --list FILE names others, a line each: the name, and its arguments. Kernel times come from events
around every launch (kernel_time.cu), in a run of their own. A row is printed as soon as it is known, and kept in
--state as a JSON line, so that a run that was cut off goes on after it:
    public.py --barracuda build/bin/barracuda --programs FOLDER --options filter=off --options filter=on
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import overhead  # noqa: E402
from overhead import Run, geometric_mean, ratio, records_of, shown  # noqa: E402

# says: what the output of a right run matches. Of Rodinia's, only lud checks what it computes.
Program = namedtuple("Program", "name arguments says", defaults=((), ""))

PROGRAMS = [
    Program("matrixMul", says="Result = PASS"),
    Program("convolutionSeparable", says="Test passed"),
    Program("globalToShmemAsyncCopy", says="Result = PASS"),
    Program("transpose", says="Test passed"),
    Program("mergeSort", says=r"\bOK\b"),
    Program("histogram", says="Test passed"),
    Program("scan", says="Results Match"),
    Program("scalarProd", says="Test passed"),
    Program("BlackScholes", says="Test passed"),
    Program("fastWalshTransform", says="Test passed"),
    Program("sortingNetworks", says=r"\bOK\b"),
    Program("reductionMultiBlockCG", says=r"GPU result = (\d\.\d{6})\d*\s+CPU result = \1"),
    Program("shfl_scan", says="CheckSum: 2073600, "),
    Program("FDTD3d"),
    Program("MonteCarloMultiGPU", says="Test passed"),
    Program("dct8x8", says="Test passed"),
    Program("threadFenceReduction", says=r"GPU result = (\d\.\d{6})\d*\s+CPU result = \1"),
    Program("warpAggregatedAtomicsCG", says="PASSED"),
    Program("binaryPartitionCG", says="Done"),
    Program("radixSortThrust", says="Test passed"),
    Program("reduction", says="Test passed"),
    Program("cudaTensorCoreGemm", says="TFLOPS"),
    Program("immaTensorCoreGemm", says="TOPS"),
    Program("bf16TensorCoreGemm", says="TFLOPS"),
    Program("tf32TensorCoreGemm", says="TFLOPS"),
    Program("dmmaTensorCoreGemm", says="FP64 TFLOPS"),
    Program("simpleAWBarrier", says="PASSED"),
    Program("asyncAPI"),
    Program("simpleMultiCopy"),
    Program("simpleStreams"),
    Program("simpleHyperQ"),
    Program("MC_EstimatePiP"),
    Program("MC_EstimatePiQ"),
    Program("MC_SingleAsianOptionP"),
    Program("eigenvalues"),
    Program("interval"),
    Program("segmentationTreeThrust"),
    Program("binomialOptions", says="Test passed"),
    Program("quasirandomGenerator"),
    Program("dwtHaar1D", says="Test success"),
    Program("dxtc", says="Test passed"),
    Program("HSOpticalFlow"),
    Program("NV12toBGRandResize"),
    Program("alignedTypes", says="Test passed"),
    Program("jacobiCudaGraphs", says="PASSED"),
    Program("conjugateGradientMultiBlockCG", says="PASSED"),
    Program("simpleCudaGraphs"),
    Program("newdelete", says="3/3"),
    Program("UnifiedMemoryPerf"),
    Program("cudaGraphsPerfScaling", says="Test passed"),
    Program("streamOrderedAllocation", says="streamOrderedAllocationPostSync PASSED"),
    Program("fp16ScalarProduct", says="PASSED"),
    Program("simpleAtomicIntrinsics"),
    Program("vectorAdd", says="Test PASSED"),
    Program("lineOfSight", says="Test passed"),
    Program("stereoDisparity"),
    Program("convolutionTexture", says="Test passed"),
    Program("systemWideAtomics"),
    Program("srad_v2", ["2048", "2048", "0", "127", "0", "127", "0.5", "2"], "Computation Done"),
    Program("hotspot", ["512", "2", "2", "temp_512", "power_512", "output"], "Ending simulation"),
    Program("nw", ["2048", "10"], "Processing bottom-right"),
    Program("lud", ["-s", "256", "-v"], r">>>Verify<<<<\n(?!dismatch)"),
    Program("pathfinder", ["100000", "100", "20"], "blockGrid"),
    Program("backprop", ["65536"], "Training done"),
    Program("lavaMD", ["-boxes1d", "10"], "GPU: KERNEL"),
]


def make_inputs(programs):
    """In the current folder: what the programs read. Rodinia's grids are not in its repository: made here."""
    data = os.path.join(os.path.dirname(programs), "data")  # the samples look for their files in ./data
    if os.path.isdir(data):
        os.symlink(data, "data")
    for name, lowest in (("temp_512", 323), ("power_512", 0)):
        with open(name, "w", encoding="utf-8") as file:
            file.writelines("%.3f\n" % (lowest + (cell * 7919 % 1000) / 100) for cell in range(512 * 512))


class Bench:
    """Runs commands in the current folder."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cache"),  # first runs are first
                                TMPDIR=os.path.abspath("."),  # what a run that was ended leaves behind
                                KERNEL_TIME_FILE=os.path.abspath("times"))
        self.findings_file = os.path.abspath("findings.jsonl")

    def run(self, command, limit=None, **environment):
        """Status is None if the run was ended."""
        run = Run(command, dict(self.environment, **environment), limit or self.arguments.limit)
        status = None if run.timed_out else os.waitstatus_to_exitcode(run.status)
        return {"seconds": run.seconds, "status": status, "output": run.output}

    def taken(self, name, read):
        """What read makes of the file's lines, None without the file, which is gone afterwards."""
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.readlines()
            os.remove(name)
            return read(lines)
        except (OSError, IndexError, KeyError, ValueError):
            return None

    def kernels(self):
        """(launches, milliseconds)"""
        return self.taken(self.environment["KERNEL_TIME_FILE"],
                          lambda lines: (int(lines[0].split()[0]), float(lines[0].split()[1])))

    def native(self, command, says):
        runs = [self.run(command) for _ in range(2)]
        best = min(runs, key=lambda run: run["seconds"])
        self.run(command, LD_PRELOAD=self.arguments.shim)
        return {"seconds": best["seconds"], "status": best["status"], "kernels": self.kernels(),
                "right": bool(re.search(says, best["output"]))}

    def ours(self, command, says, options):
        """Two runs, of which the second finds compiled code, and one with timed kernels: fewer if they are slow."""
        under = [self.arguments.barracuda, "run", "--"]
        option = {"BARRACUDA_OPTIONS": ":".join(filter(None, [
            "print-limit=1:log=session/info:json=" + self.findings_file, options]))}
        last = first = self.run(under + command, **option)
        if first["seconds"] < self.arguments.warm_below:
            last = self.run(under + command, **option)
        found = self.taken(self.findings_file, lambda lines: json.loads(lines[-1])) or {}
        kernels = None
        if last["status"] is not None:
            # The tool's library comes first in what it sets, and the timer must lie before it.
            self.run(under + ["sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', self.arguments.shim] + command,
                     **option)
            kernels = self.kernels()
        self.taken(self.findings_file, lambda lines: None)
        if self.arguments.outputs:
            self.keep(command, options, last)
        return {"first": first["seconds"], "seconds": last["seconds"], "status": last["status"],
                "kernels": kernels, "records": (records_of(last["output"]) or [None])[0],
                "races": found.get("races"), "coverage": found.get("coverage"),
                "right": bool(re.search(says, last["output"]))}

    def racecheck(self, command, says):
        """A run, and one with timed kernels if it came to its end."""
        under, limit = [self.arguments.sanitizer, "--tool", "racecheck"] + command, self.arguments.racecheck
        wall, kernels = self.run(under, limit=limit), None
        if wall["status"] is not None:
            self.run(under, limit=limit, LD_PRELOAD=self.arguments.shim)
            kernels = self.kernels()
        return {"seconds": wall["seconds"], "status": wall["status"], "kernels": kernels,
                "right": bool(re.search(says, wall["output"]))}

    def keep(self, command, options, run):
        name = re.sub(r"[^\w.=-]", "_", "%s.%s.txt" % (os.path.basename(command[0]), options))
        with open(os.path.join(self.arguments.outputs, name), "w", encoding="utf-8") as file:
            file.write(run["output"])

    def measure(self, program):
        command = [os.path.join(self.arguments.programs, program.name), *program.arguments]
        result = {"name": program.name, "native": self.native(command, program.says), "ours": {}}
        for options in self.arguments.options:
            print("%s, %s ..." % (program.name, options or "defaults"), file=sys.stderr, flush=True)
            result["ours"][options] = self.ours(command, program.says, options)
        if self.arguments.racecheck:
            result["racecheck"] = self.racecheck(command, program.says)
        return result


def kernel_ratio(result, options):
    ours, native = result["ours"][options]["kernels"], result["native"]["kernels"]
    return ratio(ours and ours[1], native and native[1])


def wall_ratio(result, options, key="seconds"):
    return ratio(result["ours"][options][key], result["native"]["seconds"])


def has_worked(result):
    """Natively. Rodinia's programs end with 0 also where no kernel ran."""
    native = result["native"]
    return native["status"] == 0 and native["right"] and native["kernels"] is not None


def has_ended(result, options):
    return has_worked(result) and result["ours"][options]["status"] is not None


def wall_cell(result, options, key):
    """A run that was ended took longer than that."""
    if not has_worked(result):
        return "-"
    return ("" if has_ended(result, options) else "> ") + shown(wall_ratio(result, options, key))


def status_cell(run):
    status = "ended" if run["status"] is None else str(run["status"])
    return status if run["right"] or run["status"] is None else status + ", wrong output"


def findings_cell(run):
    return shown(run["races"], "%d") + (", incomplete" if run["coverage"] == "incomplete" else "")


def columns(sets, with_racecheck):
    """The name and the text of each column."""
    yield "program", lambda r: r["name"]
    yield "launches", lambda r: shown((r["native"]["kernels"] or (None, 0))[0], "%d")
    yield "kernel ms", lambda r: shown((r["native"]["kernels"] or (0, None))[1], "%.3f")
    yield "wall s", lambda r: shown(r["native"]["seconds"], "%.2f")
    yield "status", lambda r: status_cell(r["native"])
    for each in sets:
        name = each or "defaults"
        yield name + ": kernel x", lambda r, s=each: shown(kernel_ratio(r, s))
        yield "wall x, 1st run", lambda r, s=each: wall_cell(r, s, "first")
        yield "last run", lambda r, s=each: wall_cell(r, s, "seconds")
        yield "records", lambda r, s=each: shown(r["ours"][s]["records"], "%d")
        yield "status", lambda r, s=each: status_cell(r["ours"][s])
        yield "findings", lambda r, s=each: findings_cell(r["ours"][s])
    if with_racecheck:
        yield "racecheck: kernel x", lambda r: shown(overhead.kernel_ratio(r, "racecheck"))
        yield "wall x", lambda r: shown(overhead.wall_ratio(r, "racecheck"))
        yield "status", lambda r: status_cell(r["racecheck"])


def print_row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_means(results, sets):
    """Over the programs that ended with every set of options: otherwise the slowest are left out of one mean alone."""
    ended = [result for result in results if all(has_ended(result, options) for options in sets)]
    for options in sets:
        for title, of in [("kernel", kernel_ratio), ("wall", wall_ratio)]:
            ratios = [of(result, options) for result in ended]
            print("geometric mean, %s, %s time: %s x (%d of %d programs)"
                  % (options or "defaults", title, shown(geometric_mean(ratios)), sum(map(bool, ratios)),
                     len(results)))


def print_beside_racecheck(results, options):
    """Over the programs that ended under both."""
    both = [result for result in results if has_ended(result, options) and result["racecheck"]["status"] is not None]
    for title, ours, racecheck in [("kernel", kernel_ratio, overhead.kernel_ratio),
                                   ("wall", wall_ratio, overhead.wall_ratio)]:
        pairs = [(ours(result, options), racecheck(result, "racecheck")) for result in both]
        pairs = [pair for pair in pairs if all(pair)]
        print("beside racecheck, %s, %s time: %s x and %s x, less on %d of %d programs"
              % (options or "defaults", title, shown(geometric_mean([pair[0] for pair in pairs])),
                 shown(geometric_mean([pair[1] for pair in pairs])), sum(a < b for a, b in pairs), len(pairs)))


def read_state(arguments):
    """What was measured with these options already."""
    if not os.path.exists(arguments.state):
        return []
    with open(arguments.state, encoding="utf-8") as file:
        results = [json.loads(line) for line in file]
    return [result for result in results if set(arguments.options) <= set(result["ours"])
            and ("racecheck" in result or not arguments.racecheck)]


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--barracuda", default=os.environ.get("BARRACUDA", "build/bin/barracuda"))
    parser.add_argument("--programs", default="bin", help="the folder of the binaries; beside it: data")
    parser.add_argument("--list", help="a file of other programs than the known ones: a name and arguments a line")
    parser.add_argument("--shim", help="kernel_time.cu as a library; built where not given")
    parser.add_argument("--options", action="append", help="a set of the tool's options, as filter=on:queues=8")
    parser.add_argument("--limit", type=float, default=30, help="seconds for one run")
    parser.add_argument("--racecheck", type=float, metavar="SECONDS",
                        help="run under compute-sanitizer's racecheck as well, each time for at most so long")
    parser.add_argument("--warm-below", type=float, default=10, help="seconds of a first run that is repeated")
    parser.add_argument("--seconds", type=float, default=540, help="start no program after this")
    parser.add_argument("--only", default="", help="a regular expression of program names")
    parser.add_argument("--state", default=os.path.join(os.environ.get("OUT", "."), "public.jsonl"))
    parser.add_argument("--outputs", help="a folder for what the programs and the tool printed")
    arguments = parser.parse_args()
    arguments.options = arguments.options or [""]
    arguments.shim = arguments.shim or built_shim()
    for name in ("barracuda", "programs", "shim", "state", "outputs"):
        if getattr(arguments, name):
            setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    arguments.sanitizer = overhead.find_sanitizer("/usr/local/cuda")
    if arguments.racecheck and arguments.sanitizer is None:
        parser.error("--racecheck: there is no compute-sanitizer, neither on PATH nor in /usr/local/cuda/bin")
    return arguments


def listed(name):
    with open(name, encoding="utf-8") as file:
        lines = [shlex.split(line) for line in file]
    return [Program(words[0], tuple(words[1:])) for words in lines if words]


def built_shim():
    shim = os.path.join(tempfile.mkdtemp(), "kernel_time.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel_time.cu")
    subprocess.run(["nvcc", "-std=c++20", "-O2", "-shared", "-cudart", "shared", "-Xcompiler", "-fPIC", source,
                    "-o", shim], check=True)
    return shim


def main():
    arguments = parsed_arguments()
    end = time.monotonic() + arguments.seconds
    programs = listed(arguments.list) if arguments.list else PROGRAMS
    chosen = [program for program in programs if re.search(arguments.only, program.name)
              and os.path.exists(os.path.join(arguments.programs, program.name))]
    known = {result["name"]: result for result in read_state(arguments)}
    table = list(columns(arguments.options, arguments.racecheck))
    print_row(name for name, _ in table)
    print("|" + " --- |" * len(table), flush=True)
    results, left = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # several programs write files
        make_inputs(arguments.programs)
        bench = Bench(arguments)
        for program in chosen:
            if program.name not in known and time.monotonic() > end:
                left.append(program.name)
                continue
            result = known.get(program.name)
            if result is None:
                result = bench.measure(program)
                with open(arguments.state, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
            results.append(result)
            print_row(cell(result) for _, cell in table)
        os.chdir("/")
    print_means(results, arguments.options)
    if arguments.racecheck:
        for options in arguments.options:
            print_beside_racecheck(results, options)
    if left:
        print("not measured yet: " + " ".join(left))
    return 0


if __name__ == "__main__":
    sys.exit(main())
