#!/usr/bin/env python3
"""Whether `barracuda expose` finds the fence that was taken out of a program of litmus_suite/weak: at
its place, of its kind and scope (Bugaroo, section III-D). Emulated device; no hint is given.

    benchmarks/weak/run_root_causes.py            every build without one of its fences
    benchmarks/weak/run_root_causes.py cbe sdk    builds whose names contain one of the words

What is right is said by the sources:
    // fence VARIANT: WHAT WAS TAKEN OUT, KIND SCOPE[, FLAGS OF EXPOSE]
    // behind VARIANT: TEXT | TEXT
A fence has to be found behind a line with one of the texts, and behind no line of another kind; of
several `behind` lines each needs one. Where the program's own access before its fence is any of
several, all of them are given: what is not ordered behind one of them is not behind the others.
`not shown` in place of kind and scope: no failure may be found. Status 1: a row is wrong.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "litmus_suite/weak")
MOST_RUNS = 400  # behind one answer

# `groups`: of each the lines of which a fence has to stand behind one. `flags`: of expose.
Build = collections.namedtuple("Build", "name source removed fence flags groups")
Fence = collections.namedtuple("Fence", "line text kind scope")
# `fences` are what was found; `failure` how it failed, None if it did not.
Answer = collections.namedtuple("Answer", "failure fences runs seconds is_incomplete")


def lines_with(text, lines):
    """The numbers of the lines of code with it."""
    return [number for number, line in enumerate(lines, 1)
            if text in line and not line.lstrip().startswith("//")]


def read_builds(source):
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    builds = []
    for line in lines:
        match = re.match(r"// fence (\w+): (.*)$", line)
        if not match:
            continue
        variant = match.group(1)
        removed, fence, *flags = [word.strip() for word in match.group(2).split(", ")]
        groups = []
        for behind in lines:
            if behind.startswith("// behind %s: " % variant):
                texts = behind.split(": ", 1)[1].split(" | ")
                for text in texts:
                    if not lines_with(text, lines):
                        sys.exit("%s: no line has %r" % (source, text))
                groups.append({number for text in texts for number in lines_with(text, lines)})
        name = os.path.basename(source)[:-3] + "_" + variant
        if (fence == "not shown") != (not groups):
            sys.exit("%s: a fence that is to be found, and no place for it, or the reverse" % name)
        builds.append(Build(name, source, removed, fence, " ".join(flags).split(), groups))
    return builds


def all_builds():
    return [build for file in sorted(os.listdir(SOURCES)) if file.endswith(".cu")
            for build in read_builds(os.path.join(SOURCES, file))]


def expose(arguments, build):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [arguments.barracuda, "expose", "--json", report, "--time", arguments.time]
        command += build.flags + ["--", os.path.join(arguments.programs, "weak_" + build.name)]
        start = time.monotonic()
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        try:
            with open(report, encoding="utf-8") as file:
                return answer_of([json.loads(line) for line in file], build.source, seconds)
        except FileNotFoundError:
            sys.exit("%s: no report, status %d\n%s" % (build.name, ended.returncode, ended.stderr))


def answer_of(report, source, seconds):
    failures = [line for line in report if line["type"] == "weak-memory-failure"]
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    fences = []
    for line in report:
        if line["type"] == "missing-fence":
            place = line["place"]
            is_here = os.path.basename(place["file"] or "") == os.path.basename(source)
            number = place["line"] if is_here else 0
            text = lines[number - 1].split("//")[0].strip() if number else place["statement"]
            fences.append(Fence(number, text, line["kind"], line["scope"]))
    summary = report[-1]["weak_memory"]
    return Answer(failures[0]["failure"] if failures else None, fences, summary["runs"], seconds,
                  summary["incomplete"])


def problems_of(build, answer):
    """What is wrong with the answer; of a right one nothing."""
    if build.fence == "not shown":
        return ["a failure that was not known"] if answer.failure else []
    if answer.failure is None:
        return ["no failure"]
    problems = []
    for group in build.groups:
        if not any(fence.line in group for fence in answer.fences):
            problems.append("none behind line %s" % " or ".join(map(str, sorted(group))))
    places = set().union(*build.groups)
    for fence in answer.fences:
        if fence.line not in places:
            problems.append("one behind line %d" % fence.line)
        elif "%s %s" % (fence.kind, fence.scope) != build.fence:
            problems.append("line %d is %s %s" % (fence.line, fence.kind, fence.scope))
    if answer.is_incomplete:
        problems.append("incomplete")
    if answer.runs > MOST_RUNS:
        problems.append("more than %d runs" % MOST_RUNS)
    return problems


def row_of(build, answer, problems):
    found = ["%d: `%s` (%s, %s)" % fence for fence in answer.fences]
    if not found:
        found = ["no failure" if answer.failure is None else "no fence"]
    return [build.name, build.removed, "; ".join(found), "%d" % answer.runs,
            "%.0f" % answer.seconds, "wrong: " + ", ".join(problems) if problems else "right"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="builds whose names contain one of them; all")
    parser.add_argument("--time", default="10m", help="of one build, at most")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/programs"))
    arguments = parser.parse_args()
    arguments.barracuda = os.path.abspath(arguments.barracuda)
    arguments.programs = os.path.abspath(arguments.programs)
    return arguments


def main():
    arguments = parse_arguments()
    builds = [build for build in all_builds()
              if not arguments.words or any(word in build.name for word in arguments.words)]
    if not builds:
        sys.exit("no build has %s in its name" % " or ".join(arguments.words))
    print("| build | taken out | found behind line | runs | seconds | |")
    print("| --- | --- | --- | --- | --- | --- |")
    wrong = 0
    for build in builds:
        answer = expose(arguments, build)
        problems = problems_of(build, answer)
        wrong += bool(problems)
        print("|", " | ".join(row_of(build, answer, problems)), "|", flush=True)
    print("\n%d of %d right" % (len(builds) - wrong, len(builds)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
