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
        if len(cells) == 8 and re.fullmatch(r"\w+ \(\d+\)", cells[0]):
            rows.append(cells)
    return rows


def is_number(cell):
    return re.match(r"[\d.]+ x$", cell) is not None


def mean(rows, column):
    """The geometric mean of a column, with the digits that the documents give."""
    values = [float(row[column].split()[0]) for row in rows]
    value = math.exp(sum(map(math.log, values)) / len(values)) if values else 0
    return "%.1f" % value if value < 10 else "%.0f" % value if value < 100 else "%d" % round(value, -1)


def count(root):
    core, modern = (len(programs(root, "litmus_suite/" + folder)) for folder in ("suite", "modern"))
    rows = overhead_rows(root)
    ended = [row for row in rows if is_number(row[2])]
    both = [row for row in ended if is_number(row[3])]
    return {
        "programs of the suite": str(core + modern),
        "programs of its core": str(core),
        "programs of its modern part": str(modern),
        "benchmark programs": str(len(programs(root, "benchmarks/programs"))), "programs in the table": str(len(rows)),
        "programs that end": str(len(ended)), "programs that racecheck ends as well": str(len(both)),
        "kernel time, ours": mean(ended, 2), "whole program, ours, first": mean(ended, 4),
        "whole program, ours": mean(ended, 5),
        "kernel time, ours, where both end": mean(both, 2), "kernel time, racecheck": mean(both, 3),
        "whole program, ours, where both end": mean(both, 5), "whole program, racecheck": mean(both, 6),
        "kernels below racecheck": str(sum(float(row[2].split()[0]) < float(row[3].split()[0]) for row in both)),
    }


# Where a number stands: the group of the expression is the number.
STATED = [
    ("README.md", r"tested on \| (\d+) small programs", "programs of the suite"),
    ("README.md", r"of the (\d+) in the core", "programs of its core"),
    ("docs/COMPARISON.md", r"of the (\d+) small programs", "programs of its core"),
    ("docs/COMPARISON.md", r"slows down less, of the (\d+)", "programs that racecheck ends as well"),
    ("docs/COMPARISON.md", r"slows down less[^|]*\| (\d+)", "kernels below racecheck"),
    ("docs/SUITE.md", r"`suite/` is the core of (\d+)", "programs of its core"),
    ("docs/SUITE.md", r"\| \d+ of (\d+) right \| \d+ of \d+ right", "programs of its core"),
    ("docs/SUITE.md", r"--seeds 20` \| \d+ of \d+ right \| \d+ of (\d+) right \|", "programs of its modern part"),
    ("docs/MEASUREMENTS.md", r"the (\d+) of \d+ programs, on several days", "programs in the table"),
    ("docs/MEASUREMENTS.md", r"the \d+ of (\d+) programs, on several days", "benchmark programs"),
    ("docs/MEASUREMENTS.md", r"Geometric means: kernels (\d+) x", "kernel time, ours"),
    ("docs/MEASUREMENTS.md", r"whole programs ([\d.]+) x and [\d.]+ x of the \d+ that end", "whole program, ours, first"),
    ("docs/MEASUREMENTS.md", r"whole programs [\d.]+ x and ([\d.]+) x of the \d+ that end", "whole program, ours"),
    ("docs/MEASUREMENTS.md", r"of the (\d+) that end;", "programs that end"),
    ("docs/MEASUREMENTS.md", r"of the (\d+) that racecheck ends", "programs that racecheck ends as well"),
    ("docs/MEASUREMENTS.md", r"kernels (\d+) x and racecheck's", "kernel time, ours, where both end"),
    ("docs/MEASUREMENTS.md", r"kernels \d+ x and racecheck's (\d+) x", "kernel time, racecheck"),
    ("docs/MEASUREMENTS.md", r"whole programs ([\d.]+) x and racecheck's", "whole program, ours, where both end"),
    ("docs/MEASUREMENTS.md", r"whole programs [\d.]+ x and racecheck's ([\d.]+) x", "whole program, racecheck"),
    ("docs/MEASUREMENTS.md", r"below racecheck's on (\d+) of \d+", "kernels below racecheck"),
    ("docs/MEASUREMENTS.md", r"below racecheck's on \d+ of (\d+)", "programs that racecheck ends as well"),
]
# Of the public programs, in their first run and the second.
KERNELS = r"kernels ([\d.]+) x in the geometric mean of 54"
WHOLE = r"whole programs %s x in the first run and %s x in the second of 58"
# Two documents that give one number: the second is where it was measured.
SAME = [
    (("README.md", r"Detection takes ([\d.]+) bytes"),
     ("docs/MEASUREMENTS.md", r"\*\*([\d.]+) bytes a byte touched\*\*")),
    (("README.md", r"slows kernels down ([\d.]+) times and"), ("docs/MEASUREMENTS.md", KERNELS)),
    (("README.md", r"whole programs ([\d.]+) times"), ("docs/MEASUREMENTS.md", WHOLE % (r"[\d.]+", r"([\d.]+)"))),
    (("README.md", r"([\d.]+) times in a first run"), ("docs/MEASUREMENTS.md", WHOLE % (r"([\d.]+)", r"[\d.]+"))),
    (("README.md", r"racecheck slows kernels down (\d+) times"), ("docs/MEASUREMENTS.md", r"\*\*[\d.]+ x, (\d+) x\*\*")),
    (("README.md", r"where ours takes (\d+\.\d)"), ("docs/MEASUREMENTS.md", r"\*\*([\d.]+) x, \d+ x\*\*")),
    (("docs/COMPARISON.md", r"time of kernels[^|]*\| ([\d.]+) times"),
     ("docs/MEASUREMENTS.md", r"\*\*([\d.]+) x, \d+ x\*\*")),
    (("docs/COMPARISON.md", r"time of kernels[^|]*\| [\d.]+ times \| (\d+) times"),
     ("docs/MEASUREMENTS.md", r"\*\*[\d.]+ x, (\d+) x\*\*")),
    (("docs/COMPARISON.md", r"time of whole programs[^|]*\| ([\d.]+) times"),
     ("docs/MEASUREMENTS.md", r"\*\*([\d.]+) x, [\d.]+\.\d x\*\* \|$")),
    (("docs/COMPARISON.md", r"time of whole programs[^|]*\| [\d.]+ times \| ([\d.]+) times"),
     ("docs/MEASUREMENTS.md", r"\*\*[\d.]+ x, (\d+\.\d) x\*\* \|$")),
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
            for match in re.finditer(expression, text, re.M)]


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
    for name in sorted(rows - programs(root, "benchmarks/programs").keys()):
        yield "docs/MEASUREMENTS.md: there is no program %s in benchmarks/programs" % name


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
