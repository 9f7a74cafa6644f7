#!/usr/bin/env python3
"""Runs the suite on the emulated device with delayed stores and stale reads, and holds what it sees
against each program's `// weak:` line and the detector's verdicts against those without delays.

    litmus_suite/run_weak.py                  suite, modern and weak, 20 seeds of each way
    litmus_suite/run_weak.py --seeds 5 lock   programs whose name matches a pattern
    litmus_suite/run_weak.py --mark           writes what was seen into the sources instead

A program *fails* when it crashes, hangs, ends otherwise, or prints what no run without delays
printed. One that only ends because a plain store was made visible by age *starves*.
    // weak: fails     it fails in at least one run
    // weak: starves   it does not, and starves in at least one
    // weak: never     neither
A program of weak/ has such a line for each build (`// weak VARIANT: …`). What no source may race
about may not fail. The verdict must be that without delays: for a program without races on each
seed, for one that races the same pairs of lines over all seeds; a run that failed may have more,
since it went on with other values.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import sys
import tempfile

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import program_runner as runner  # noqa: E402

FOLDERS = ["suite", "modern", "weak"]
# The ways a program is run, and their options; each with every seed.
PLAIN = "without delays"
WAYS = {
    PLAIN: [],
    "p=1": ["delay-stores=1"],
    "stale": ["delay-stores=0.5", "stale-reads=0.5"],
}
SECONDS = 60

Program = collections.namedtuple("Program", "name source variant binary expectation mark")
# One run: what the program printed and how it ended, what was found and where, and whether a plain
# store became visible only by age.
Run = collections.namedtuple("Run", "way seed outcome findings starves")


def variants(source):
    with open(source, encoding="utf-8") as file:
        return [""] + re.findall(r"^// variant (\w+):", file.read(), re.M)


def note_name(variant):
    return "weak " + variant if variant else "weak"


def find_programs(arguments):
    programs = []
    for folder in arguments.folders.split(","):
        for file in sorted(os.listdir(os.path.join(SUITE, folder))):
            if not file.endswith(".cu"):
                continue
            source = os.path.join(SUITE, folder, file)
            for variant in variants(source) if folder == "weak" else [""]:
                name = file[:-3] + ("_" + variant if variant else "")
                if not re.search(arguments.pattern, name):
                    continue
                prefix = "weak_" if folder == "weak" else "litmus_"
                binary = os.path.join(arguments.programs, prefix + name)
                if not os.path.exists(binary):
                    sys.exit("%s is not built (ninja -C build barracuda.programs)" % binary)
                expectation, _ = runner.read_expectation([source], variant)
                mark = runner.read_note(source, note_name(variant))
                programs.append(Program(name, source, variant, binary, expectation,
                                        mark[0] if mark else "no mark"))
    if not programs:
        sys.exit("no program matches %s" % arguments.pattern)
    return programs


def pairs_of(lines):
    """The findings as types and pairs of lines, whichever access came first."""
    pairs = set()
    for line in lines:
        if line["type"] == "summary":
            continue
        accesses = line.get("accesses") or []
        pairs.add((line["type"],) + tuple(sorted(str(runner.place(access)) for access in accesses)))
    return frozenset(pairs)


def has_starvation(log):
    if not os.path.exists(log):
        return False
    with open(log, encoding="utf-8") as file:
        return any(line.startswith("starvation ") for line in file)


def run_once(arguments, program, way, seed):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "weak-log")
        options = WAYS[way] + ["seed=%d" % seed] + (["weak-log=" + log] if way != PLAIN else [])
        tool = runner.tool_command(arguments.barracuda, "cpu", options)
        result, lines = runner.run_under_tool(["timeout", str(SECONDS)] + tool, [program.binary])
        starves = has_starvation(log)
    # With findings the tool's own status takes the place of the program's.
    status = "" if result.returncode in (0, 1, runner.FINDINGS_STATUS) else " (status %d)" % result.returncode
    return Run(way, seed, result.stdout.strip() + status, pairs_of(lines), starves)


def run_program(arguments, program):
    # The reference runs are as many as all others together.
    seeds = {way: arguments.seeds * (len(WAYS) - 1 if way == PLAIN else 1) for way in WAYS}
    return [run_once(arguments, program, way, seed)
            for way in WAYS for seed in range(1, seeds[way] + 1)]


def failures(runs):
    """The runs with delays that printed what no run without printed."""
    reference = {run.outcome for run in runs if run.way == PLAIN}
    return [run for run in runs if run.way != PLAIN and run.outcome not in reference]


def seen(runs):
    if failures(runs):
        return "fails"
    return "starves" if any(run.starves for run in runs) else "never"


def names_of(pairs):
    return "; ".join(" ".join(pair) for pair in sorted(pairs)) or "nothing"


def verdict_problems(program, runs):
    if program.expectation[0] == "none":
        return ["%s, seed %d: %s was found" % (run.way, run.seed, names_of(run.findings))
                for run in runs if run.findings]
    plain = frozenset().union(*(run.findings for run in runs if run.way == PLAIN))
    weak = [run for run in runs if run.way != PLAIN]
    lost = plain.difference(*(run.findings for run in weak))
    failed = failures(runs)
    new = frozenset().union(*(run.findings for run in weak if run not in failed)) - plain
    problems = []
    if lost:
        problems.append("only without delays: %s" % names_of(lost))
    if new:
        problems.append("only with delays: %s" % names_of(new))
    return problems


def problems_of(program, runs, is_marking):
    problems = verdict_problems(program, runs)
    failed = failures(runs)
    if program.expectation[0] == "none" and failed:
        problems.append("it fails (%s, seed %d: %r) and has no race" %
                        (failed[0].way, failed[0].seed, failed[0].outcome))
    if not is_marking and seen(runs) != program.mark:
        problems.append("%s, and its source says %s" % (seen(runs), program.mark))
    return problems


def write_mark(program, mark):
    """Puts the mark behind the line of the expectation, or in place of the one that is there."""
    with open(program.source, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    name = note_name(program.variant)
    lines = [line for line in lines if not line.startswith("// %s:" % name)]
    expect = "// expect%s:" % (" " + program.variant if program.variant else "")
    place = [line.startswith(expect) for line in lines].index(True) + 1
    lines.insert(place, "// %s: %s\n" % (name, mark))
    with open(program.source, "w", encoding="utf-8") as file:
        file.writelines(lines)


def row_of(program, runs):
    failed = collections.Counter(run.way for run in failures(runs))
    starved = sum(run.starves for run in runs)
    counts = ["%d" % failed[way] for way in WAYS if way != PLAIN]
    return [program.name, program.expectation[0], seen(runs)] + counts + ["%d" % starved]


def print_row(cells):
    print("| %-44s |" % cells[0], " | ".join(cells[1:]), "|", flush=True)


def print_score(rows):
    counts = collections.Counter((program.expectation[0], seen(runs)) for program, runs in rows)
    for (expectation, mark), count in sorted(counts.items()):
        print("%s: %d %s" % (expectation, count, mark))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".", help="programs whose name matches it")
    parser.add_argument("--folders", default=",".join(FOLDERS), help="of %s" % ", ".join(FOLDERS))
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    parser.add_argument("--seeds", type=int, default=20, help="the seeds 1 to N of each way")
    parser.add_argument("--mark", action="store_true", help="write the `// weak:` lines")
    parser.add_argument("--jobs", type=int, default=2, help="programs at the same time")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    programs = find_programs(arguments)
    rows, wrong = [], []
    ways = ["fails of %d, %s" % (arguments.seeds, way) for way in WAYS if way != PLAIN]
    header = ["program", "expected", "weak"] + ways + ["runs that starve"]
    print_row(header)
    print("|" + " --- |" * len(header))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for program, runs in zip(programs, pool.map(lambda p: run_program(arguments, p), programs)):
            rows.append((program, runs))
            print_row(row_of(program, runs))
            wrong += ["%s: %s" % (program.name, problem)
                      for problem in problems_of(program, runs, arguments.mark)]
            if arguments.mark:
                write_mark(program, seen(runs))
    print_score(rows)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
