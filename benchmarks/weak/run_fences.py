#!/usr/bin/env python3
"""Fences by experiment (Sorensen, Donaldson, table 6): how many of the fences behind every access
`barracuda harden` keeps, beside the paper's figures.

    benchmarks/weak/run_fences.py                 500 stable runs a program, on the emulated device
    benchmarks/weak/run_fences.py --stable 50 dot programs whose name matches, and fewer runs
    benchmarks/weak/run_fences.py --stale         stale reads and late loads besides: readers need fences too
    benchmarks/weak/run_fences.py --device gpu    on a GPU; --stress: in all environments, not delayed stores alone
    benchmarks/weak/run_fences.py --device gpu --cost    and then the time and energy of the kernels
    benchmarks/weak/run_fences.py --print         what the reports in --folder say, without a run

The programs are the builds of litmus_suite/weak without any fence. Each is a slice of its own: its report, what was
printed, its fences and its costs lie in --folder as soon as they are known, and what is there already is not made
again (--again: but for what is complete). --budget bounds all of it: who comes late gets less time, and is incomplete.
With --check, status 1 says that a program kept more fences than the paper's, or was not complete.
"""
import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The build, and the paper's fences: behind every access, reduced; for cub_scan Bugaroo's three on the emulated
# device, whose delays show all of them, and two on a GPU.
PROGRAMS = [
    ("weak_cbe_ht_no_fence", "cbe-ht", 10, 1),
    ("weak_cbe_dot_no_fence", "cbe-dot", 4, 1),
    ("weak_ct_octree_no_fence", "ct-octree", 33, 1),
    ("weak_tpo_tm_no_fence", "tpo-tm", 28, 1),
    ("weak_sdk_red_no_fence", "sdk-red-nf", 6, 1),
    ("weak_cub_scan_no_fence", "cub-scan-nf", 51, None),
    ("weak_ls_bh_no_fence", "ls-bh-nf", 90, 4),
]
CUB_SCAN = {"cpu": 3, "gpu": 2}
# Nobody begins with less than this left, in seconds; so much is kept for the end.
LEAST, RESERVE = 45, 15
# Of a program, for its costs: what is kept of the budget; fewer runs than this say nothing.
COST_SECONDS, LEAST_RUNS = 55, 3
# What NVML counts energy in takes a window of this many seconds; and no more rounds than this.
WINDOW, MOST_ROUNDS = 1.5, 20000


class Failed(Exception):
    """A sentence."""


def paper_of(arguments, reduced):
    as_on_gpu = arguments.device == "gpu" or arguments.rewrite
    return CUB_SCAN["gpu" if as_on_gpu else "cpu"] if reduced is None else reduced


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"


def device_flags(arguments):
    if arguments.device == "gpu":
        return ["--device", "gpu"]
    return ["--delay-levels", "rewrite"] if arguments.rewrite else []


class Slices:
    """The programs that were asked for, until the budget is spent."""

    def __init__(self, arguments, programs):
        self.arguments = arguments
        missing = [each for each in programs if not os.path.exists(self.stem(each[0]) + ".cost.json")]
        self.reserved = COST_SECONDS * len(missing) if arguments.cost else 0
        self.end = time.monotonic() + arguments.budget

    def left(self):
        return self.end - time.monotonic()

    def left_for_fences(self):
        return self.left() - RESERVE - self.reserved

    def stem(self, program):
        return os.path.join(self.arguments.folder, program)

    def program(self, name):
        path = os.path.join(self.arguments.programs, name)
        if not os.access(path, os.X_OK):
            raise Failed(f"{path} is not built (ninja -C build barracuda.programs)")
        return path

    def is_there(self, program):
        try:
            result = read_result(self.stem(program))
        except (Failed, OSError, ValueError):
            return False
        # Without a result (status 67 and not incomplete) there was no kernel, or no run.
        has_result = result["incomplete"] or result["status"] in (0, 66)
        return has_result and not (self.arguments.again and result["incomplete"])

    def harden(self, program):
        arguments, stem = self.arguments, self.stem(program)
        if arguments.print or self.is_there(program):
            return
        seconds = int(min(arguments.time, self.left_for_fences()))
        if seconds < LEAST - RESERVE:
            raise Failed("the budget was spent before it could begin")
        command = [arguments.barracuda, "harden", "--json", stem + ".part", "--time", f"{seconds}s",
                   "--stable", str(arguments.stable), "--iterations", str(arguments.iterations),
                   "--fences", stem + ".fences", *device_flags(arguments)]
        command += [] if arguments.stale else ["--stores-only"]
        command += ["--stress"] if arguments.stress else []
        command += ["--jobs", str(arguments.jobs)] if arguments.jobs else []
        start = time.monotonic()
        try:
            ended = subprocess.run(command + ["--", self.program(program)], capture_output=True, text=True,
                                   timeout=seconds + 90, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"barracuda harden did not end by its --time of {seconds} s") from late
        with open(stem + ".txt", "w") as file:
            file.write(f"seconds {time.monotonic() - start:.0f} status {ended.returncode}\n{ended.stderr}")
        if not os.path.exists(stem + ".part"):
            raise Failed(f"no report, status {ended.returncode}: {last_line(ended.stderr)}")
        os.replace(stem + ".part", stem + ".json")  # last: a report without its text is made again

    def run_timed(self, program, name, fences, rounds):
        """(what the execution log says, seconds of the whole run) of one run."""
        log = f"{self.stem(program)}.{name}.log"
        if os.path.exists(log):
            os.remove(log)
        command = [self.arguments.barracuda, "run", *device_flags(self.arguments)[:2], "--jit-cache", "none",
                   "--execution-log", log, "--log-file", "/dev/null"]
        command += ["--fences", fences] if fences else []
        start = time.monotonic()
        try:
            ended = subprocess.run(command + ["--", self.program(program), str(rounds)], capture_output=True, text=True,
                                   timeout=120, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"its {rounds} rounds with fences: {name} did not end within 120 s") from late
        seconds = time.monotonic() - start
        if not os.path.exists(log):
            raise Failed(f"no kernel was measured, status {ended.returncode}: {last_line(ended.stderr + ended.stdout)}")
        with open(log) as file:
            text = file.read()
        os.remove(log)
        return parse_log(text), seconds

    def sets(self, program):
        """The sets of fences to measure: (their name, the program, the file with them)."""
        stem = self.stem(program)
        places = stem + ".places"
        if not has_places(places):
            subprocess.run([self.arguments.barracuda, "run", *device_flags(self.arguments)[:2], "--fence-places", places,
                            "--log-file", "/dev/null", "--", self.program(program)], capture_output=True, timeout=120,
                           check=False)
        if not has_places(places):
            raise Failed("no list of its places for fences could be made")
        own = program.replace("_no_fence", "")
        sets = [("none", program, None), ("its own", own, None), ("all", program, places)]
        return sets + ([("reduced", program, stem + ".fences")] if os.path.exists(stem + ".fences") else [])

    def rounds_of(self, program):
        """So many rounds that they last as long as the window."""
        _, start = self.run_timed(program, "none", None, 1)
        rounds = 50
        while True:
            seconds = self.run_timed(program, "none", None, rounds + 1)[1] - start
            if seconds > WINDOW / 3 or rounds * 4 > MOST_ROUNDS:
                return min(int(rounds * WINDOW / max(seconds, WINDOW / 100)) + 1, MOST_ROUNDS)
            rounds *= 4

    def cost(self, program):
        stem = self.stem(program)
        if os.path.exists(stem + ".cost.json") or self.arguments.print:
            return
        sets = self.sets(program)
        rounds = self.rounds_of(program) if self.arguments.device == "gpu" else 2
        measured = {name: [] for name, _, _ in sets}
        wanted = self.arguments.cost_runs
        for run in range(wanted):
            if self.left() < RESERVE + 3 * WINDOW * len(sets):
                if run < LEAST_RUNS:
                    raise Failed(f"the budget was spent after {run} of {wanted} runs of its costs")
                break
            for name, which, fences in sets:  # in turn: a device that slows down does so for all
                measured[name].append(self.run_timed(which, name, fences, rounds)[0])
        costs = {name: middle(logs) for name, logs in measured.items()}
        with open(stem + ".cost.part", "w") as file:
            json.dump({"rounds": rounds, "runs": len(measured["none"]), "costs": costs}, file, indent=1)
        os.replace(stem + ".cost.part", stem + ".cost.json")


def has_places(path):
    try:
        with open(path) as file:
            return any(line.startswith("+") for line in file)
    except OSError:
        return False


def parse_log(text):
    """{"nanoseconds", "millijoules", "no energy", "instructions", "fences"}, None where it says nothing of it."""
    timed = re.search(r"^timed (\d+) launches, (\d+) nanoseconds$", text, re.MULTILINE)
    energy = re.search(r"^energy (\d+) millijoules$", text, re.MULTILINE)
    why = re.search(r"^energy not measured: (.*)$", text, re.MULTILINE)
    launches = re.findall(r"^launch (\d+) warp instructions, (\d+) fences$", text, re.MULTILINE)
    return {"nanoseconds": int(timed.group(2)) if timed else None,
            "millijoules": int(energy.group(1)) if energy else None,
            "no energy": why.group(1) if why else None,
            "instructions": sum(int(each[0]) for each in launches) if launches else None,
            "fences": sum(int(each[1]) for each in launches) if launches else None}


def middle(logs):
    result = {}
    for key in ("nanoseconds", "millijoules", "instructions", "fences"):
        values = [log[key] for log in logs if log[key] is not None]
        result[key] = statistics.median(values) if values else None
    reasons = [log["no energy"] for log in logs if log["no energy"]]
    result["no energy"] = reasons[0] if reasons else None
    return result


def read_result(stem):
    with open(stem + ".json") as file:
        lines = [json.loads(line) for line in file]
    with open(stem + ".txt") as file:
        text = file.read()
    if not lines or lines[-1].get("type") != "summary" or "weak_memory" not in lines[-1]:
        raise Failed(f"{stem}.json is no report of harden")
    weak = lines[-1]["weak_memory"]
    missing = [line for line in lines if line["type"] == "missing-fence"]
    places = re.search(r"(\d+) places? tried", text)
    # What the source says in one line is one fence, in however many copies of its function.
    kept = sorted({"%s:%s" % (os.path.basename(line["place"]["file"] or "?"), line["place"]["line"]) for line in missing})
    head = re.match(r"seconds (\d+) status (\d+)", text)
    return {"places": int(places.group(1)) if places else None, "kept": kept, "copies": len(missing),
            "seconds": int(head.group(1)), "status": int(head.group(2)), "runs": weak["runs"],
            "incomplete": weak["incomplete"], "environments": weak.get("environments", []),
            "summary": last_line(text)}


def row(arguments, stem, name, conservative, reduced):
    result = read_result(stem)
    kept = ", ".join(result["kept"]) or result["summary"].replace("BARRACUDA SUMMARY: ", "")
    if result["copies"] > len(result["kept"]):
        kept += f" ({result['copies']} copies)"
    kept += " (incomplete)" if result["incomplete"] else ""
    places = "?" if result["places"] is None else result["places"]
    cells = [name, f"{conservative} -> {reduced}", f"{places} -> {len(result['kept'])}", kept, result["runs"], result["seconds"]]
    if arguments.device == "gpu" or arguments.rewrite:
        short = [each.replace("delayed stores, ", "").replace("shuffled blocks", "shuffled") for each in result["environments"]]
        cells.append("; ".join(short) or "none failed")
    return result, "| " + " | ".join(str(cell) for cell in cells) + " |"


def more(cost, least, key):
    if cost is None or cost[key] is None or not least[key]:
        return "not measured"
    return f"{100 * (cost[key] / least[key] - 1):+.1f} %"


def cost_row(stem, name):
    with open(stem + ".cost.json") as file:
        measured = json.load(file)
    costs = measured["costs"]
    least = costs["none"]
    key = "nanoseconds" if least["nanoseconds"] else "instructions"
    scale = 1000 * measured["rounds"] if key == "nanoseconds" else measured["rounds"]
    cells = [name, "not measured" if least[key] is None else f"{least[key] / scale:.1f}"]
    cells += [more(costs.get(fences), least, key) for fences in ("its own", "all", "reduced")]
    cells += [more(costs.get(fences), least, "millijoules") for fences in ("its own", "all", "reduced")]
    note = f" {least['no energy']}" if least["millijoules"] is None and least["no energy"] else ""
    return "| " + " | ".join(cells) + f" | {measured['rounds']} | {measured['runs']}{note} |"


def print_fences(slices, programs):
    """The table, a row as soon as its program is over; how many rows are worse than the paper's."""
    arguments = slices.arguments
    is_gpu = arguments.device == "gpu" or arguments.rewrite
    print("| program | paper | places -> kept | kept behind | runs | seconds |" + (" in |" if is_gpu else ""))
    print("|---|---|---|---|---|---|" + ("---|" if is_gpu else ""), flush=True)
    faults = 0

    def harden(each):
        slices.harden(each[0])
        return each

    with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        started = {pool.submit(harden, each): each for each in programs}
        for done in concurrent.futures.as_completed(started):
            program, name, conservative, reduced = started[done]
            reduced = paper_of(arguments, reduced)
            try:
                done.result()
                result, line = row(arguments, slices.stem(program), name, conservative, reduced)
                faults += 0 if len(result["kept"]) <= reduced and not result["incomplete"] and result["status"] == 66 else 1
            except (Failed, OSError, ValueError, KeyError) as problem:
                faults += 1
                line = f"| {name} | {conservative} -> {reduced} | | {problem} | | |" + (" |" if is_gpu else "")
            print(line, flush=True)
    return faults


def print_costs(slices, programs):
    """One program at a time: the device's energy is that of all that runs on it."""
    unit = "us" if slices.arguments.device == "gpu" else "warp instructions"
    print(f"\n| program | {unit} without fences | time: its own | all | reduced | energy: its own | all | reduced | rounds | runs |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    faults = 0
    for program, name, _, _ in programs:
        try:
            slices.cost(program)
            print(cost_row(slices.stem(program), name), flush=True)
        except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as problem:
            faults += 1
            print(f"| {name} | {problem} | | | | | | | | |", flush=True)
    print("paper: time of all +174 %, energy +171 % (in the slides, medians: +63 % and +59 %); reduced less than 3 % each")
    return faults


def seconds_of(text):
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1])
    number = text[:-1] if unit else text
    if not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text}: a time is 90s, 10m or 2h")
    return int(number) * (unit or 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="", help="programs whose name matches")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--rewrite", action="store_true", help="as on a GPU, but on the emulated device: to try it")
    parser.add_argument("--stable", type=int, help="default: 500, on a GPU 200")
    parser.add_argument("--iterations", type=int, help="default: 32, on a GPU 16")
    parser.add_argument("--time", type=seconds_of, default="10m", help="for each program (10m)")
    parser.add_argument("--budget", type=seconds_of, default="24h", help="for all of them together (24h)")
    parser.add_argument("--parallel", type=int, default=1, help="programs at a time")
    parser.add_argument("--jobs", type=int, default=0, help="runs at a time of each program")
    parser.add_argument("--cost-runs", type=int, default=5, help="of each set of fences (5)")
    parser.add_argument("--folder", help="default: fences_cpu or fences_gpu")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    for flag in ("--stale", "--stress", "--cost", "--again", "--print", "--check"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    is_gpu = arguments.device == "gpu"
    arguments.stable = arguments.stable or (200 if is_gpu else 500)
    arguments.iterations = arguments.iterations or (16 if is_gpu else 32)
    arguments.folder = os.path.abspath(arguments.folder or "fences_" + arguments.device)
    arguments.barracuda = os.path.abspath(arguments.barracuda)
    arguments.programs = os.path.abspath(arguments.programs)
    os.makedirs(arguments.folder, exist_ok=True)
    programs = [each for each in PROGRAMS if re.search(arguments.pattern, each[0])]
    slices = Slices(arguments, programs)
    faults = print_fences(slices, programs)
    faults += print_costs(slices, programs) if arguments.cost else 0
    return 1 if arguments.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
