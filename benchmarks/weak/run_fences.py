#!/usr/bin/env python3
"""Fences by experiment (Sorensen, Donaldson, table 6) on the emulated device: how many of the fences
behind every access `barracuda harden` keeps, beside the paper's figures.

    benchmarks/weak/run_fences.py                 500 stable runs a program
    benchmarks/weak/run_fences.py --stable 50 dot programs whose name matches, and fewer runs
    benchmarks/weak/run_fences.py --stale         stale reads and late loads besides: readers need fences too

The programs are the builds of litmus_suite/weak without any fence. With --check, status 1 says that
a program kept more fences than the paper's, or took longer than ten minutes.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The build, and the paper's fences: behind every access, reduced; for cub_scan Bugaroo's three.
PROGRAMS = [
    ("weak_cbe_ht_no_fence", "cbe-ht", 10, 1),
    ("weak_cbe_dot_no_fence", "cbe-dot", 4, 1),
    ("weak_ct_octree_no_fence", "ct-octree", 33, 1),
    ("weak_tpo_tm_no_fence", "tpo-tm", 28, 1),
    ("weak_sdk_red_no_fence", "sdk-red-nf", 6, 1),
    ("weak_cub_scan_no_fence", "cub-scan-nf", 51, 3),
    ("weak_ls_bh_no_fence", "ls-bh-nf", 90, 4),
]


def harden(arguments, program):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [arguments.barracuda, "harden", "--json", report, "--time", "10m",
                   "--stable", str(arguments.stable), "--iterations", str(arguments.iterations)]
        command += [] if arguments.stale else ["--stores-only"]
        start = time.monotonic()
        ended = subprocess.run(command + ["--", os.path.join(arguments.programs, program)],
                               cwd=folder, capture_output=True, text=True)
        seconds = time.monotonic() - start
        try:
            with open(report) as file:
                lines = [json.loads(line) for line in file]
        except FileNotFoundError:
            sys.exit(f"{program}: no report, status {ended.returncode}\n{ended.stderr}")
    missing = [line for line in lines if line["type"] == "missing-fence"]
    places = re.search(r"(\d+) places? tried", ended.stderr)
    kept = ["%s:%s %s" % (os.path.basename(line["place"]["file"] or "?"), line["place"]["line"],
                          line["scope"]) for line in missing]
    return {"places": int(places.group(1)) if places else 0, "kept": kept, "seconds": seconds,
            "runs": lines[-1]["weak_memory"]["runs"], "status": ended.returncode,
            "incomplete": lines[-1]["weak_memory"]["incomplete"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--stable", type=int, default=500)
    parser.add_argument("--iterations", type=int, default=32)
    parser.add_argument("--stale", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    arguments = parser.parse_args()
    arguments.barracuda = os.path.abspath(arguments.barracuda)
    print("| program | paper | places -> kept | kept behind | runs | seconds |")
    print("|---|---|---|---|---|---|")
    faults = 0
    for program, name, conservative, fences in PROGRAMS:
        if not re.search(arguments.pattern, program):
            continue
        result = harden(arguments, program)
        print(f"| {name} | {conservative} -> {fences} | {result['places']} -> {len(result['kept'])} |"
              f" {', '.join(result['kept'])}{' (incomplete)' if result['incomplete'] else ''} |"
              f" {result['runs']} | {result['seconds']:.0f} |", flush=True)
        is_good = len(result["kept"]) <= fences and not result["incomplete"]
        faults += 0 if is_good and result["status"] == 66 else 1
    return 1 if arguments.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
