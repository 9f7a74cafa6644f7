#!/usr/bin/env python3
"""On a GPU: does `barracuda expose --stress` find a failure in the unfenced programs of
litmus_suite/weak (Sorensen, Donaldson, table 5), and in which environments? One program a slice: a
report that is there already is not made again, so a run that was cut off goes on where it was.

    benchmarks/weak/run_expose_gpu.py                       8 programs, at most 10 minutes each
    benchmarks/weak/run_expose_gpu.py --only cbe_dot        one of them
    benchmarks/weak/run_expose_gpu.py --all --time 5m       goes on after the first failure: the table of rates
    benchmarks/weak/run_expose_gpu.py --fenced              the same programs with their fences: none may fail
    benchmarks/weak/run_expose_gpu.py --print               what the reports say, without a run

The reports are in --folder (expose_gpu). With --check, status 1 says that less than 6 of the 8 failed, or
that one with its fences did. Run `barracuda tune` first: without it the stress is that of Hopper.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The build, and the paper's name; the paper's ls-bh has fences, but not all that it needs.
PROGRAMS = [
    ("weak_cbe_dot_no_fence", "cbe-dot"),
    ("weak_cbe_ht_no_fence", "cbe-ht"),
    ("weak_ct_octree_no_fence", "ct-octree"),
    ("weak_tpo_tm_no_fence", "tpo-tm"),
    ("weak_sdk_red_no_fence", "sdk-red-nf"),
    ("weak_cub_scan_no_fence", "cub-scan-nf"),
    ("weak_ls_bh_no_fence", "ls-bh-nf"),
    ("weak_ls_bh_no_build_release", "ls-bh"),
]
ENOUGH = 6


def expose(arguments, program, stem):
    command = [arguments.barracuda, "expose", "--device", "gpu", "--stress", "--no-root-cause", "--runs", "1000000",
               "--time", arguments.time, "--json", stem + ".part"]
    command += ["--all"] if arguments.all else []
    start = time.monotonic()
    ended = subprocess.run(command + ["--", os.path.join(arguments.programs, program)], capture_output=True, text=True)
    if not os.path.exists(stem + ".part"):
        sys.exit(f"{program}: no report, status {ended.returncode}\n{ended.stderr}")
    with open(stem + ".txt", "w") as file:
        file.write(f"seconds {time.monotonic() - start:.0f}\n{ended.stderr}")
    os.replace(stem + ".part", stem + ".json")  # last: a report without its text is made again


def row(stem):
    """(failures that were confirmed, runs, seconds, environments in which some run failed)"""
    with open(stem + ".json") as file:
        lines = [json.loads(line) for line in file]
    with open(stem + ".txt") as file:
        text = file.read()
    failures = [line for line in lines if line["type"] == "weak-memory-failure"]
    rates = re.findall(r"^\| (.+?) \| ([1-9]\d*) \| (\d+) \|", text, re.MULTILINE)
    return failures, lines[-1]["weak_memory"]["runs"], int(text.split()[1]), rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name matches")
    parser.add_argument("--time", default="10m")
    for flag in ("--all", "--fenced", "--print", "--check"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--folder", default="expose_gpu")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    print("| program | confirmed in | runs | seconds | failed in (failures / runs) |\n|---|---|---|---|---|")
    failed = seen = 0
    for program, name in PROGRAMS:
        if arguments.fenced:
            program = re.sub("_no_.*", "", program)
        if not re.search(arguments.only, program):
            continue
        stem = os.path.join(arguments.folder, program + ("-all" if arguments.all else ""))
        if not os.path.exists(stem + ".json"):
            if arguments.print:
                continue
            expose(arguments, program, stem)
        failures, runs, seconds, rates = row(stem)
        seen += 1
        failed += 1 if failures else 0
        print(f"| {name} | {', '.join(each['environment'] or 'as it is' for each in failures) or 'none'} | {runs} | {seconds} |"
              f" {', '.join('%s %s/%s' % rate for rate in rates)} |", flush=True)
    print(f"{failed} of {seen} fail")
    is_bad = failed != 0 if arguments.fenced else failed < ENOUGH
    return 1 if arguments.check and is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
