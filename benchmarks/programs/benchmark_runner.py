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
import subprocess
import sys
import tempfile

FINDINGS_STATUS = 66


def read_source(source):
    """What is expected, the marked (file name, line) pairs, and the library files that may race."""
    expectation, marked, files = None, set(), set()
    with open(source, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if match := re.match(r"//\s*expect:\s*(.*)", line):
                expectation = match.group(1).split()
            if match := re.match(r"//\s*races in:\s*(.*)", line):
                files.update(match.group(1).split())
            if re.search(r"//\s*RACE\b", line):
                marked.add((os.path.basename(source), number))
    if expectation is None:
        sys.exit("%s: no expectation found" % source)
    return expectation, marked, files


def check_findings(findings, expectation, marked, files):
    problems = []
    for finding in findings:
        if finding["type"] != "race":
            problems.append("reported: %s" % json.dumps(finding))
            continue
        for access in finding["accesses"]:
            name = os.path.basename(access["file"] or "?")
            if (name, access["line"]) not in marked and name not in files:
                problems.append("a race outside the marked lines: %s:%s" % (name, access["line"]))
    races = [f for f in findings if f["type"] == "race"]
    if expectation[0] == "none":
        problems += ["reported: %s" % json.dumps(race) for race in races]
    elif not any([r["kind"], r["space"]][:len(expectation) - 1] == expectation[1:] for r in races):
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

    expectation, marked, files = read_source(arguments.source)
    command = [arguments.barracuda, "run", "--device", arguments.device]
    for option in arguments.option:
        name, _, value = option.partition("=")
        command += ["--" + name, value]
    with tempfile.TemporaryDirectory() as folder:
        json_file = os.path.join(folder, "findings.jsonl")
        result = subprocess.run(command + ["--json", json_file, "--"] + arguments.program,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=250, check=False)
        lines = []
        if os.path.exists(json_file):
            with open(json_file, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]

    problems = []
    if result.stdout != "ok\n":
        problems.append("the program's result is %r" % result.stdout)
    if not lines or lines[-1]["type"] != "summary":
        problems.append("the JSON report has no summary")
    elif lines[-1]["coverage"] != "complete":
        problems.append("coverage is %s: %s" % (lines[-1]["coverage"], lines[-1]["not_covered"]))
    problems += check_findings(lines[:-1], expectation, marked, files)
    status = FINDINGS_STATUS if expectation[0] == "race" else 0
    if result.returncode != status:
        problems.append("exit status %d, not %d" % (result.returncode, status))

    if problems:
        print("\n".join(dict.fromkeys(problems)))
        print("--- standard output\n%s--- standard error\n%s" % (result.stdout, result.stderr))
        return 1
    print("%s: as expected (%s)" % (os.path.basename(arguments.program[0]), " ".join(expectation)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
