#!/usr/bin/env python3
"""Checks what can be counted in the documents: programs, what follows from a table, what must stand there once.

Takes the tree's root. With --print, prints the numbers instead.
"""

import json
import math
import re
import sys
from pathlib import Path


def programs(root, folder):
    return {path.stem: path for path in (root / folder).glob("*.cu")}


def overhead_rows(root):
    """The rows of MEASUREMENTS.md's table of the benchmark programs, as lists of cells."""
    rows = []
    for line in (root / "docs/MEASUREMENTS.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 11 and re.fullmatch(r"\w+ \(\d+\)", cells[0]):
            rows.append(cells)
    return rows


def mean(rows, column):
    """The geometric mean of a column, with the digits that the documents give."""
    values = [float(row[column].split()[0]) for row in rows]
    value = math.exp(sum(map(math.log, values)) / len(values)) if values else 0
    return "%.1f" % value if value < 10 else "%.0f" % value if value < 100 else "%d" % round(value, -1)


def count(root):
    core, modern = (len(programs(root, "litmus_suite/" + folder)) for folder in ("suite", "modern"))
    rows = overhead_rows(root)
    benchmarks = programs(root, "benchmarks/programs")
    return {
        "programs of the suite": str(core + modern),
        "programs of its core": str(core),
        "programs of its modern part": str(modern),
        "benchmark programs": str(len(benchmarks)),
        "kernel time, ours": mean(rows, 2), "kernel time, racecheck": mean(rows, 3),
        "whole program, ours": mean(rows, 4), "whole program, racecheck": mean(rows, 5),
        "bytes of a record": mean(rows, 8),
        "kernels below racecheck": str(sum(float(row[2].split()[0]) < float(row[3].split()[0]) for row in rows)),
    }


# Where a number stands: the group of the expression is the number.
STATED = [
    ("README.md", r"tested on \| (\d+) small programs", "programs of the suite"),
    ("README.md", r"of the (\d+) in the core", "programs of its core"),
    ("README.md", r"slows kernels down (\d+) times", "kernel time, ours"),
    ("README.md", r"whole programs ([\d.]+) times", "whole program, ours"),
    ("README.md", r"of\s+(\d+)\s+programs", "benchmark programs"),
    ("README.md", r"racecheck (\d+) and [\d.]+ times", "kernel time, racecheck"),
    ("README.md", r"racecheck \d+ and ([\d.]+) times", "whole program, racecheck"),
    ("docs/COMPARISON.md", r"of the (\d+) small programs", "programs of its core"),
    ("docs/COMPARISON.md", r"geometric mean of (\d+) programs", "benchmark programs"),
    ("docs/COMPARISON.md", r"time of kernels[^|]*\| (\d+) times", "kernel time, ours"),
    ("docs/COMPARISON.md", r"time of kernels[^|]*\| \d+ times \| (\d+) times", "kernel time, racecheck"),
    ("docs/COMPARISON.md", r"time of whole programs[^|]*\| ([\d.]+) times", "whole program, ours"),
    ("docs/COMPARISON.md", r"time of whole programs[^|]*\| [\d.]+ times \| ([\d.]+) times", "whole program, racecheck"),
    ("docs/COMPARISON.md", r"slows down less, of (\d+)", "benchmark programs"),
    ("docs/COMPARISON.md", r"slows down less, of \d+ \| (\d+)", "kernels below racecheck"),
    ("docs/SUITE.md", r"`suite/` is the core of (\d+)", "programs of its core"),
    ("docs/SUITE.md", r"\| \d+ of (\d+) right \| \d+ of \d+ right", "programs of its core"),
    ("docs/SUITE.md", r"--seeds 20` \| \d+ of \d+ right \| \d+ of (\d+) right \|", "programs of its modern part"),
    ("docs/MEASUREMENTS.md", r"of the (\d+) benchmark programs", "benchmark programs"),
    ("docs/MEASUREMENTS.md", r"below racecheck's on (\d+) of \d+", "kernels below racecheck"),
    ("docs/MEASUREMENTS.md", r"below racecheck's on \d+ of (\d+)", "benchmark programs"),
    ("docs/MEASUREMENTS.md", r"kernel time \| \*\*(\d+) x\*\*", "kernel time, ours"),
    ("docs/MEASUREMENTS.md", r"kernel time \| \*\*\d+ x\*\* \| (\d+) x", "kernel time, racecheck"),
    ("docs/MEASUREMENTS.md", r"whole program \(second run\) \| \*\*([\d.]+) x\*\*", "whole program, ours"),
    ("docs/MEASUREMENTS.md", r"whole program \(second run\) \| \*\*[\d.]+ x\*\* \| ([\d.]+) x",
     "whole program, racecheck"),
    ("docs/MEASUREMENTS.md", r"Records take (\d+) bytes in the geometric mean", "bytes of a record"),
]
# Two documents that give one number: the second is where it was measured.
SAME = [
    (("README.md", r"Detection takes ([\d.]+) bytes"),
     ("docs/MEASUREMENTS.md", r"\*\*([\d.]+) bytes a byte touched\*\*")),
    (("README.md", r"racecheck gets (\d+) right"), ("docs/SUITE.md", r"racecheck (\d+) of \d+;")),
    (("docs/COMPARISON.md", r"right verdicts[^|]*\| (\d+) "), ("docs/SUITE.md", r"ours\s+(\d+) of \d+ right, racecheck")),
    (("docs/COMPARISON.md", r"right verdicts[^|]*\| \d+ \| (\d+) "), ("docs/SUITE.md", r"racecheck (\d+) of \d+;")),
    (("docs/COMPARISON.md", r"races found, of the (\d+) "), ("docs/SUITE.md", r"finds \d+ of the (\d+) races")),
    (("docs/COMPARISON.md", r"races found[^|]*\| \d+ \| (\d+) "), ("docs/SUITE.md", r"finds (\d+) of the \d+ races")),
]


def find(root, document, expression):
    """The numbers that the expression finds, with their lines."""
    text = (root / document).read_text(encoding="utf-8")
    return [(match.group(1), text.count("\n", 0, match.start(1)) + 1)
            for match in re.finditer(expression, text)]


def stated_faults(root, numbers):
    for document, expression, name in STATED:
        found = find(root, document, expression)
        if not found:
            yield "%s: says nothing like '%s' any more: correct %s" % (document, expression, Path(__file__).name)
        for number, line in found:
            if number != numbers[name]:
                yield "%s:%d: %s: %s, but there are %s" % (document, line, name, number, numbers[name])


def same_faults(root):
    for (document, expression), measured in SAME:
        stated, known = find(root, document, expression), find(root, *measured)
        if not stated or not known:
            yield "%s or %s: says nothing like '%s' any more" % (document, measured[0], expression)
        for number, line in stated:
            if known and number != known[0][0]:
                yield "%s:%d: %s, but %s:%d: %s" % (document, line, number, measured[0], known[0][1], known[0][0])


def suite_faults(root):
    """SUITE.md's table has a row for each program, with what the program's source expects."""
    expected = {}
    for folder in ("suite", "modern"):
        for name, path in programs(root, "litmus_suite/" + folder).items():
            match = re.search(r"^// expect: (.*)$", path.read_text(encoding="utf-8"), re.M)
            expected[name] = match.group(1).strip() if match else ""
    text = (root / "docs/SUITE.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| ([^|]*?) \| [^|]* \| \w+ \|$", text, re.M))
    for name in sorted(expected.keys() | rows.keys()):
        if expected.get(name) != rows.get(name):
            yield "docs/SUITE.md: %s: the table has '%s', the program '%s'" % (
                name, rows.get(name, "no row"), expected.get(name, "is not there"))


def benchmark_faults(root):
    rows = {row[0].split()[0] for row in overhead_rows(root)}
    for name in sorted(rows ^ programs(root, "benchmarks/programs").keys()):
        yield "docs/MEASUREMENTS.md: %s is in the table or in benchmarks/programs alone" % name


def walk_faults(root):
    """ARCHITECTURE.md's walk of one load names each file once."""
    text = (root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = re.search(r"^## One `ld\.global`.*?(?=^## )", text, re.M | re.S)
    files = re.findall(r"^\| `([^`]+)` \|", walk.group(), re.M) if walk else []
    if not files:
        yield "docs/ARCHITECTURE.md: has no walk of one ld.global"
    for file in sorted({file for file in files if files.count(file) > 1}):
        yield "docs/ARCHITECTURE.md: the walk names %s %d times" % (file, files.count(file))


def finding_faults(root):
    """FINDINGS.md has a heading for each kind and type that the schema of reports has, for reports are looked up by it."""
    kinds = []
    for definition in json.loads((root / "docs/report.schema.json").read_text(encoding="utf-8"))["$defs"].values():
        fields = definition.get("properties", {})
        if {"enum", "const"} & fields.get("severity", {}).keys() and "type" in fields:
            names = fields["kind"] if fields["type"].get("const") == "race" else fields["type"]
            kinds += names.get("enum", [names.get("const")])
    text = (root / "docs/FINDINGS.md").read_text(encoding="utf-8")
    for kind in kinds:
        if text.count("\n## %s\n" % kind) != 1:
            yield "docs/FINDINGS.md: has no heading '## %s'" % kind


def main():
    root = Path(sys.argv[-1])
    numbers = count(root)
    if "--print" in sys.argv:
        print("\n".join("%-28s %s" % item for item in numbers.items()))
        return 0
    faults = [*stated_faults(root, numbers), *same_faults(root), *suite_faults(root),
              *benchmark_faults(root), *walk_faults(root), *finding_faults(root)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
