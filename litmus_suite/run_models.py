#!/usr/bin/env python3
"""Holds the race detector's verdicts against the PTX model: `barracuda explore` looks for a data race
in every execution of each program, with two or three of its threads.

    litmus_suite/run_models.py              core and modern
    litmus_suite/run_models.py '^flag'      programs whose name matches a pattern

The detector's verdict is the program's `// expect:` line, which run_suite.py holds it to. A program
has a race for the explorer if it finds one in some set of threads, and none if it finds none in any
set. Where the two differ a reason must stand in DIFFERENCES, and why one cannot be compared in
OUTSIDE. Exit status 1: one differs or is not compared without, or a reason is there for one that
does not differ or is compared.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
FOLDERS = ["suite", "modern"]
SECONDS = 60
CELLS = 4096  # cells.h

# The threads that stand for those of a launch, as BLOCK:THREAD; those that it has are tried.
SETS = ["0:0,1:0", "0:0,0:32", "0:0,0:1", "0:0,0:8", "0:0,0:16", "0:31,0:0", "0:0,0:63",
        "0:0,1:0,2:0", "0:0,0:32,1:0", "0:0,0:1,0:2"]
# Four threads, where three show no race: only to find one, for none is not shown in a few seconds.
FOUR = "0:0,1:0,2:0,3:0"
FOUR_SECONDS = 10
# And launches, as GRID and BLOCK, that are small enough to take whole: of programs that count how
# many come. What makes no sense in them (a neighbour that is not there) does not count.
LAUNCHES = [(2, 1), (1, 2), (3, 1)]

# Programs on which the detector and the model differ, and why.
SAME_VALUE = "lanes of one instruction store one value: a race in PTX, which the detector excuses"
UNUSED = ("the compiler reads what the program makes nothing of: a race in PTX; the detector leaves "
          "such reads out (RACE_RULES.md section 2)")
DIFFERENCES = {
    "global_lanes_write_same_value": SAME_VALUE,
    "lanes_write_wide_value": SAME_VALUE,
    "speculated_guard": UNUSED,
    "speculated_mask": UNUSED,
    "speculated_predicate": UNUSED,
    "speculated_select": UNUSED,
    "vector_dead_element": UNUSED,
}

# Why a program cannot be compared, by what its detail says.
OUTSIDE = [
    (r"async|cp\.async|st\.bulk|fence\.proxy|wgmma|tcgen05|wmma|ldmatrix|stmatrix|clusterlaunchcontrol|cvt\.rn\.f16", "asynchronous copies and matrices"),
    (r"mbarrier\.init", "mbarriers"),
    (r"barrier\.cluster", "barriers of clusters"),
    (r"bar\.arrive|some of a block's threads", "barriers of some of a block's threads"),
    (r"activemask|shfl|bar\.red", "collectives, which pass values from lane to lane"),
    (r"overlap at", "accesses of two sizes to the same bytes"),
    (r"globaltimer|envreg", "clocks, and the driver's workspace of grid.sync()"),
    (r"does not follow this call", "the device's heap, which is no PTX"),
    (r"read-only path", "the read-only path"),
    (r"cvt\.rn\.f64", "floating-point arithmetic"),
    (r"too many ways|ways of its threads were not all found", "polls of a counter, each of whose values is a way"),
]
TOO_LARGE_SECONDS = 5
TOO_LARGE = {"load_buffering": "too large: eight rounds of a loop, whose values are all alike"}

Program = collections.namedtuple("Program", "name binary expected grid block")
Row = collections.namedtuple("Row", "program verdict threads detail")


def read_program(folder, file, programs):
    """None where the program launches kernels of its own."""
    with open(os.path.join(SUITE, folder, file), encoding="utf-8") as source:
        text = source.read()
    launch = re.search(r"^LITMUS(?:_COOPERATIVE)?\((\d+), (\d+)\)", text, re.M)
    expect = re.search(r"^// expect: (.*)$", text, re.M)
    if launch is None or expect is None:
        return None
    name = os.path.splitext(file)[0]
    return Program(name, os.path.join(programs, "litmus_" + name), expect.group(1).split()[0],
                   int(launch.group(1)), int(launch.group(2)))


def find_programs(arguments):
    found = []
    for folder in FOLDERS:
        for file in sorted(os.listdir(os.path.join(SUITE, folder))):
            if file.endswith(".cu") and re.search(arguments.pattern, file[:-3]):
                program = read_program(folder, file, arguments.programs)
                if program is not None:
                    found.append(program)
    if not found:
        sys.exit("no program matches %s" % arguments.pattern)
    missing = [each.binary for each in found if not os.path.exists(each.binary)]
    if missing:
        sys.exit("%s is not built (ninja -C build barracuda.programs)" % missing[0])
    return found


def has(program, threads):
    pairs = [each.split(":") for each in threads.split(",")]
    return all(int(block) < program.grid and int(thread) < program.block
               for block, thread in pairs)


def why_outside(row):
    for pattern, why in OUTSIDE:
        if re.search(pattern, row.detail):
            return why
    return TOO_LARGE.get(row.program.name, "") if row.detail.startswith("not found within") else ""


def explore(arguments, program, grid, block, threads, seconds=SECONDS):
    """"race", "none", "late", or "-" with a reason: it cannot be explored."""
    command = [arguments.barracuda, "explore", program.binary, "--kernel", "litmus", "--grid",
               str(grid), "--block", str(block), "--shared", "4096", "--time", str(seconds)]
    command += ["--threads", threads] if threads else []
    result = subprocess.run(command + ["--arg=s32[%d]=0" % CELLS] * 3, capture_output=True,
                            text=True, check=False)
    race = re.search(r"data race: (.*)", result.stdout)
    if race is None:
        error = result.stderr.strip().splitlines()
        return "-", error[0].replace(program.binary, "PTX") if error else str(result.returncode)
    answer = race.group(1)
    if answer.startswith("reachable"):
        return "race", answer
    return ("none", "") if answer.startswith("not reachable") else ("late", answer)


def judge(arguments, program):
    none, refused = [], ""
    tries = [(program.grid, program.block, threads) for threads in SETS if has(program, threads)]
    tries += [(grid, block, "") for grid, block in LAUNCHES
              if grid <= program.grid and block <= program.block]
    for grid, block, threads in tries:
        verdict, detail = explore(arguments, program, grid, block, threads,
                                  TOO_LARGE_SECONDS if program.name in TOO_LARGE else SECONDS)
        name = threads or "%dx%d" % (grid, block)
        if verdict in ("race", "late"):
            return Row(program, verdict if verdict == "race" else "-", name, detail)
        if verdict == "none":
            none.append(name)
        elif "does not know" in detail or "does not follow" in detail:
            return Row(program, "-", "", detail)
        elif threads:
            refused = refused or detail
    if none and not refused:
        if program.expected == "race" and has(program, FOUR):
            verdict, detail = explore(arguments, program, program.grid, program.block, FOUR,
                                      FOUR_SECONDS)
            if verdict == "race":
                return Row(program, verdict, FOUR, detail)
        return Row(program, "none", " ".join(none), "")
    return Row(program, "-", "", refused)


def print_table(rows):
    wrong = 0
    compared = 0
    outside = collections.Counter()
    print("| program | detector | model | threads | |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows:
        name = row.program.name
        word = row.detail
        if row.verdict != "-":
            compared += 1
            differs = (row.program.expected == "race") != (row.verdict == "race")
            word = "same"
            if differs:
                word = "DIFFERS: " + DIFFERENCES.get(name, "no reason is known; " + row.detail)
            elif name in DIFFERENCES:
                word = "same, but DIFFERENCES has a reason"
            wrong += differs != (name in DIFFERENCES) or name in TOO_LARGE
        else:
            why = why_outside(row)
            outside[why] += 1
            word = why or "NOT COMPARED: " + word
            wrong += not why
        print("| %s | %s | %s | %s | %s |" % (name, row.program.expected, row.verdict, row.threads,
                                             word.replace("|", "\\|")))
    for why, number in outside.most_common():
        print("%4d not compared: %s" % (number, why or "no reason is known"))
    print("%d programs, %d compared, %d wrong" % (len(rows), compared, wrong))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pattern", nargs="?", default="", help="of program names")
    build = os.path.join(ROOT, "build")
    parser.add_argument("--barracuda", default=os.path.join(build, "bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(build, "programs"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    programs = find_programs(arguments)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda program: judge(arguments, program), programs))
    return 1 if print_table(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
