#!/usr/bin/env python3
"""What the filter is worth on a GPU: every benchmark program native, with filter=off and with filter=auto, one after
the other in one slice of time, as a table with the geometric means; and whether both find the same. One trip
measures everything: what was measured is kept in --state, and a run that was cut short goes on there."""
import argparse
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import overhead  # noqa: E402

FILTERS = ["off", "auto"]


def measure(bench, name, size):
    """The program native and under the tool, a second run each, so that the code is in the cache."""
    program = [os.path.join(bench.build, "programs", "bench_" + name), str(size)]
    result = {"name": name, "size": size, "native": bench.native(program)}
    given = bench.options
    for option in FILTERS:
        bench.options = given + ":filter=" + option
        result[option] = bench.ours(program)
    bench.options = given
    return result


def is_same(result):
    off, auto = (result[option] for option in FILTERS)
    return all(off[key] == auto[key] for key in ("races", "coverage", "right"))


def records(result, option):
    return (result[option]["records"] or [None])[0]


def columns():
    """The name and the text of each column."""
    yield "program", lambda r: r["name"]
    yield "size", lambda r: r["size"]
    yield "kernel ms", lambda r: overhead.shown((r["native"]["kernels"] or (0, None))[1], "%.3f")
    yield "wall s", lambda r: overhead.shown(r["native"]["seconds"], "%.2f")
    for each in FILTERS:
        yield each + ": records", lambda r, f=each: overhead.shown(records(r, f), "%d")
        yield each + ": kernel x", lambda r, f=each: overhead.shown(overhead.kernel_ratio(r, f))
        yield each + ": wall x", lambda r, f=each: overhead.shown(overhead.wall_ratio(r, f))
    yield "findings", lambda r: "same" if is_same(r) else "DIFFERENT"


def print_table(results):
    table = list(columns())
    print("| " + " | ".join(name for name, _ in table) + " |")
    print("|" + " --- |" * len(table))
    for result in results:
        print("| " + " | ".join(str(cell(result)) for _, cell in table) + " |")
    for option in FILTERS:
        for title, of in [("kernel", overhead.kernel_ratio), ("wall", overhead.wall_ratio)]:
            mean = overhead.geometric_mean([of(result, option) for result in results])
            print("geometric mean, filter=%s, %s time: %s x" % (option, title, overhead.shown(mean)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--shim", help="kernel_time.cu as a library; built where not given")
    parser.add_argument("--state", default="filter_cost.jsonl")
    parser.add_argument("--seconds", type=float, default=540, help="start no program after this")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--only", default="", help="a regular expression of program names")
    parser.add_argument("--option", action="append", default=[], help="of the tool, for both")
    parser.set_defaults(racecheck=0)
    arguments = parser.parse_args()

    results = []
    if os.path.exists(arguments.state):
        with open(arguments.state, encoding="utf-8") as file:
            results = [json.loads(line) for line in file]
    known = {result["name"] for result in results}
    left = [name for name in overhead.SIZES if re.search(arguments.only, name) and name not in known]
    end = time.monotonic() + arguments.seconds
    bench = overhead.Bench(arguments) if left else None
    while left and time.monotonic() < end:
        name = left.pop(0)
        results.append(measure(bench, name, overhead.SIZES[name]))
        with open(arguments.state, "a", encoding="utf-8") as file:
            file.write(json.dumps(results[-1]) + "\n")
    print_table(results)
    if left:
        print("not measured yet: " + " ".join(left))
    return 0 if all(map(is_same, results)) else 1


if __name__ == "__main__":
    sys.exit(main())
