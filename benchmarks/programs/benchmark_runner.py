#!/usr/bin/env python3
"""Runs one benchmark program under `barracuda run`: its own check of its result must say ok, and the
findings must be those its source announces.

The first lines of a source, as in tests/e2e/program_runner.py, say `// expect: none` or
`// expect: race [KIND [SPACE]]`, and the lines that race end in `// RACE`. A program that calls a
library names the library's files that may race: `// races in: FILE ...`.
"""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/e2e"))
import program_runner as runner  # noqa: E402



def library_files(source):
    """The library files that may race."""
    files = set()
    with open(source, encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"//\s*races in:\s*(.*)", line):
                files.update(match.group(1).split())
    return files


def check_findings(findings, expectation, marked, files):
    problems = []
    for finding in findings:
        if finding["type"] != "race":
            problems.append("reported: %s" % json.dumps(finding))
            continue
        for access in finding["accesses"]:
            place = runner.place(access)
            if place not in marked and place[0] not in files:
                problems.append("a race outside the marked lines: %s:%s" % place)
    races = [f for f in findings if f["type"] == "race"]
    if expectation[0] == "none":
        problems += ["reported: %s" % json.dumps(race) for race in races]
    elif not any([variant["kind"], r["space"]][:len(expectation) - 1] == expectation[1:]
                 for r in races for variant in [r] + r["variants"]):
        problems.append("no %s was reported" % " ".join(expectation))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--barracuda", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE for run")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()

    expectation, marked = runner.read_expectation([arguments.source], "")
    files = library_files(arguments.source)
    tool = runner.tool_command(arguments.barracuda, arguments.device, arguments.option)
    result, lines = runner.run_under_tool(tool, arguments.program)
    problems = []
    if result.stdout != "ok\n":
        problems.append("the program's result is %r" % result.stdout)
    problems += runner.check_summary(lines) + runner.check_status(result, expectation)
    problems += check_findings(lines[:-1], expectation, marked, files)
    return runner.conclude(problems, result, lines, arguments.program[0], expectation)


if __name__ == "__main__":
    sys.exit(main())
