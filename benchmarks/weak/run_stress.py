#!/usr/bin/env python3
"""Weak behaviour of this GPU by stress and distance, and with fences none of it (Sorensen, Donaldson,
section 3): `barracuda tune`, then `barracuda litmus` at the point that it chose.

    benchmarks/weak/run_stress.py                    about two minutes on a GPU
    benchmarks/weak/run_stress.py --fenced 10000000  so many runs of each fenced test

With --check, status 1 says that message passing, load buffering or store buffering came up in less
than 3 %, or that a fenced test showed what PTX forbids.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD = "{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
SHAPES = {
    "MP": ("st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, y", "st.relaxed.gpu y, 1 | ld.relaxed.gpu r1, x",
           "P1:r0 == 1 /\\ P1:r1 == 0"),
    "LB": ("ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y", "st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1",
           "P0:r0 == 1 /\\ P1:r0 == 1"),
    "SB": ("st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x",
           "P0:r0 == 0 /\\ P1:r0 == 0"),
}
CORR = ("PTX CoRR\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x ;\n"
        " | ld.relaxed.gpu r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n")
IRIW = ("PTX IRIW\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | P3@cta 3,gpu 0 ;\n"
        " st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 | ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\n"
        " | | fence.sc.gpu | fence.sc.gpu ;\n"
        " | | ld.relaxed.gpu r1, y | ld.relaxed.gpu r1, x ;\n"
        "exists (P2:r0 == 1 /\\ P2:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0)\n")


def test_text(name, fence):
    first, second, condition = SHAPES[name]
    lines = [first, second] if not fence else [first, f"{fence} | {fence}", second]
    return (f"PTX {name}\n{HEAD}" + "".join(f" {line} ;\n" for line in lines) +
            f"exists ({condition})\n")


def litmus(arguments, folder, name, text, launches, *flags):
    """(witnesses, runs, whether PTX forbids some outcome that was seen)"""
    file = os.path.join(folder, name + ".litmus")
    with open(file, "w") as test:
        test.write(text)
    report = os.path.join(folder, name + ".json")
    ended = subprocess.run([arguments.barracuda, "litmus", "--device", "gpu", "--launches", str(launches),
                            "--json", report, *flags, file], capture_output=True, text=True)
    if ended.returncode not in (0, 66):
        sys.exit(f"{name}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
    observation = [line for line in ended.stdout.splitlines() if line.startswith("Observation")][0].split()
    witnesses, others = int(observation[-2]), int(observation[-1])
    with open(report) as lines:
        outcomes = json.loads(lines.readline())["outcomes"]
    return witnesses, witnesses + others, any(not each["allowed"] for each in outcomes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fenced", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    arguments = parser.parse_args()
    faults = []
    tuned = subprocess.run([arguments.barracuda, "tune"], text=True, stdout=subprocess.PIPE)
    print(tuned.stdout)
    if tuned.returncode not in (0, 67) or "|" not in tuned.stdout:
        sys.exit(tuned.returncode)
    with tempfile.TemporaryDirectory() as folder:
        print("| test | stress | weak | runs | % |\n|---|---|---|---|---|")
        for name in SHAPES:
            for stress in ("none", "tuned"):
                weak, runs, forbidden = litmus(arguments, folder, name, test_text(name, ""), 60,
                                               "--stress", stress, "--distance", "256")
                print(f"| {name} | {stress} | {weak} | {runs} | {100 * weak / runs:.2f} |", flush=True)
                if forbidden or (stress == "tuned" and weak < 0.03 * runs):
                    faults.append(name)
        launches = max(1, arguments.fenced // 1000)
        fenced = {f"{name} with {fence}": test_text(name, fence)
                  for name in SHAPES for fence in ("fence.sc.gpu",)}
        for name, text in {**fenced, "CoRR": CORR, "IRIW with fence.sc.gpu": IRIW}.items():
            weak, runs, forbidden = litmus(arguments, folder, name.split()[0] + "-fenced", text, launches)
            print(f"| {name} | tuned | {weak} | {runs} | {100 * weak / runs:.2f} |", flush=True)
            if forbidden or weak:
                faults.append(name)
    print("at fault: " + (", ".join(faults) or "nothing"))
    return 1 if arguments.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
