#!/usr/bin/env python3
"""Runs one CUDA program under `barracuda run` and checks what it finds against its source.

The first lines of a source say what is expected:
    // expect: none
    // expect: race KIND [SPACE]
and the lines that race end in `// RACE`. A finding is right when both of its accesses are on marked
lines; a racy program needs at least one. The program's own output must be that of a run without
logging (for programs that expect none).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

FINDINGS_STATUS = 66


def read_expectation(sources, key):
    """The expectation, and the marked (file name, line) pairs of all sources."""
    expectation, marked = None, set()
    pattern = re.compile(r"//\s*expect%s:\s*(.*)" % (" " + key if key else ""))
    for source in sources:
        with open(source, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = pattern.match(line.strip())
                if match:
                    expectation = match.group(1).split()
                if re.search(r"//\s*RACE\b", line):
                    marked.add((os.path.basename(source), number))
    if expectation is None:
        sys.exit("%s: no expectation found" % sources[0])
    return expectation, marked


def run(command, environment=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300, env=environment, check=False)


def place(access):
    return (os.path.basename(access["file"] or "?"), access["line"])


def check_race(findings, expectation, marked, any_line):
    kind = expectation[1] if len(expectation) > 1 else None
    space = expectation[2] if len(expectation) > 2 else None
    problems = []
    races = [f for f in findings if f["type"] == "race"]
    if not races:
        problems.append("no race was reported")
    for race in races:
        places = [place(access) for access in race["accesses"]]
        if not any_line and any(p not in marked for p in places):
            problems.append("a race outside the marked lines: %s and %s" % tuple(places))
    if kind and not any(r["kind"] == kind and space in (None, r["space"]) for r in races):
        problems.append("no %s race in %s memory" % (kind, space))
    return problems


def read_report(json_file):
    if not os.path.exists(json_file):
        return []
    with open(json_file, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tool_command(barracuda, device, options):
    command = [barracuda, "run", "--device", device]
    for option in options:
        name, _, value = option.partition("=")
        command += ["--" + name, value]
    return command


def run_under_tool(tool, program):
    """The finished process, and the lines of its JSON report."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = os.path.join(folder, "findings.jsonl")
        result = run(tool + ["--json", json_file, "--"] + program)
        return result, read_report(json_file)


def check_summary(lines):
    if not lines or lines[-1]["type"] != "summary":
        return ["the JSON report has no summary"]
    if lines[-1].get("coverage") != "complete":
        return ["coverage is %s: %s" % (lines[-1].get("coverage"), lines[-1].get("not_covered"))]
    return []


def check_status(result, expectation):
    status = FINDINGS_STATUS if expectation[0] == "race" else 0
    if result.returncode == status:
        return []
    return ["exit status %d, not %d" % (result.returncode, status)]


def conclude(problems, result, program, expectation):
    """Says what is wrong, each once, or that nothing is; the exit status of the runner."""
    if problems:
        print("\n".join(dict.fromkeys(problems)))
        print("--- standard output\n%s--- standard error\n%s" % (result.stdout, result.stderr))
        return 1
    print("%s: as expected (%s)" % (os.path.basename(program), " ".join(expectation)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--barracuda", required=True)
    parser.add_argument("--source", action="append", required=True)
    parser.add_argument("--key", default="", help="which `expect KEY:` line")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE for run")
    parser.add_argument("--any-line", action="store_true", help="the source has no line marks")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()

    expectation, marked = read_expectation(arguments.source, arguments.key)
    tool = tool_command(arguments.barracuda, arguments.device, arguments.option)
    result, lines = run_under_tool(tool, arguments.program)
    problems = check_summary(lines) + check_status(result, expectation)
    findings = lines[:-1]
    if "BARRACUDA SUMMARY:" not in result.stderr:
        problems.append("no summary line on standard error")
    if expectation[0] == "race":
        problems += check_race(findings, expectation, marked, arguments.any_line)
    else:
        problems += ["reported: %s" % json.dumps(finding) for finding in findings]
        if arguments.device == "gpu":
            plain = run(arguments.program)
        else:
            plain = run(tool + ["--kernel-name", "no kernel has this name", "--"] +
                        arguments.program)
        if plain.stdout != result.stdout:
            problems.append("output %r, without logging %r" % (result.stdout, plain.stdout))

    return conclude(problems, result, arguments.program[0], expectation)


if __name__ == "__main__":
    sys.exit(main())
