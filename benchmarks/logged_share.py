#!/usr/bin/env python3
"""How many of a program's PTX instructions are logged, without and with the passes that log less
(the paper's Figure 9). Needs neither a GPU nor the toolkit."""
import argparse
import glob
import os
import re
import subprocess
import tempfile


def counts(barracuda, file, options):
    """(logged, all) instructions of a PTX file."""
    said = subprocess.run([barracuda, "instrument", "--sites", *options, file], check=True,
                          capture_output=True, text=True).stdout
    return [int(number) for number in
            re.search(r"(\d+) of (\d+) instructions are logged", said).groups()]


def measure(barracuda, program):
    """(all, logged without reduction, logged with it) instructions of a program's PTX."""
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([barracuda, "extract", "-o", folder, program], check=True,
                       capture_output=True)
        for file in glob.glob(os.path.join(folder, "*.ptx")):
            before, instructions = counts(barracuda, file, ["--reduce-in-block", "0"])
            after, _ = counts(barracuda, file, [])
            total = [sum(pair) for pair in zip(total, (instructions, before, after))]
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    arguments = parser.parse_args()
    barracuda = os.path.join(arguments.build, "bin", "barracuda")
    print("%-32s %13s %16s %10s" % ("program", "instructions", "logged: all", "reduced"))
    rows = []
    for program in sorted(glob.glob(os.path.join(arguments.build, "programs", "bench_*"))):
        rows.append(measure(barracuda, program))
        instructions, before, after = rows[-1]
        print("%-32s %13d %14.1f %% %8.1f %%" %
              (os.path.basename(program)[len("bench_"):], instructions,
               100 * before / instructions, 100 * after / instructions), flush=True)
    instructions, before, after = map(sum, zip(*rows))
    print("%-32s %13d %14.1f %% %8.1f %%" %
          ("all", instructions, 100 * before / instructions, 100 * after / instructions))


if __name__ == "__main__":
    main()
