#!/usr/bin/env python3
"""Programs without a race compute the same under stress, whatever numbers their blocks and warps have and
however many blocks there are that are none of theirs: what they print and their status under
`barracuda run` is compared with that of a run of the same program as it is.

    litmus_suite/run_stressed.py                    all that expect no race, on the emulated device, 3 seeds each
    litmus_suite/run_stressed.py --seeds 20 scan    programs whose name matches, more seeds
    litmus_suite/run_stressed.py --device gpu       on a GPU, where stress is real

On the emulated device the code is rewritten as for a GPU (delay-levels=rewrite). Races are not looked for.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

SUITE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SUITE)
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import program_runner as runner  # noqa: E402

FOLDERS = [("litmus_suite/suite", "litmus_"), ("litmus_suite/modern", "litmus_"), ("examples", ""),
           ("tests/e2e/programs", ""), ("benchmarks/programs", "")]
STRESSES = ["random", "systematic", "cache"]  # one a seed, in turn
SECONDS = 120


def find_programs(arguments):
    """(name, program), of those that are built and expect no race."""
    for folder, prefix in FOLDERS:
        for file in sorted(os.listdir(os.path.join(ROOT, folder))):
            name, extension = os.path.splitext(file)
            binary = os.path.join(arguments.programs, prefix + name)
            source = os.path.join(ROOT, folder, file)
            if extension != ".cu" or not os.path.exists(binary) or not re.search(arguments.pattern, name):
                continue
            expected = runner.read_note(source, "expect")
            # A race that this schedule does not show is a race: what it prints may be different.
            if expected and expected[0] == "none" and not name.endswith("_race"):
                yield name, binary


def run(arguments, binary, options):
    command = runner.tool_command(arguments.barracuda, arguments.device, ["log-file=/dev/null"] + options)
    try:
        ended = subprocess.run(command + ["--", binary], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it does not end"
    return ended.returncode, ended.stdout


def examine(arguments, program):
    name, binary = program
    plain = [run(arguments, binary, ["seed=%d" % seed] if arguments.device == "cpu" else []) for seed in (1, 2)]
    if plain[0] != plain[1]:
        return name, "differs from run to run as it is", []
    faults = []
    for seed in range(1, arguments.seeds + 1):
        stress = STRESSES[(seed + len(name)) % len(STRESSES)]
        options = ["delay-levels=rewrite", "stress=" + stress, "shuffle=warps", "weak-seed=%d" % seed]
        options += ["seed=%d" % seed] if arguments.device == "cpu" else []
        stressed = run(arguments, binary, options)
        if stressed != plain[0]:
            faults.append("%s: %s: %r, not %r" % (name, " ".join(options), stressed, plain[0]))
    return name, "WRONG" if faults else "same", faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default=".")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cpu", choices=["cpu", "gpu"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    arguments = parser.parse_args()
    programs = list(find_programs(arguments))
    if not programs:
        sys.exit("no program that is built and expects no race matches %s" % arguments.pattern)
    counts, faults = {}, []
    with concurrent.futures.ThreadPoolExecutor(1 if arguments.device == "gpu" else arguments.jobs) as pool:
        for name, verdict, wrong in pool.map(lambda program: examine(arguments, program), programs):
            counts.setdefault(verdict, []).append(name)
            faults += wrong
    for verdict, names in counts.items():
        print("%s: %d of %d%s" % (verdict, len(names), len(programs), "" if verdict == "same" else ": " + ", ".join(names)))
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
