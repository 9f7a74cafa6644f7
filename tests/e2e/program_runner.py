#!/usr/bin/env python3
"""Runs one CUDA program under `barracuda run` and checks what it finds against its source.

The first lines of a source say what is expected:
    // expect: none
    // expect: race [KIND [SPACE]]     (KIND may be -: any)
    // expect: barrier-divergence
    // expect: async-register
    // expect KEY: ...                 for this key (a memory model, a mode) instead
    // result: TEXT                    what the program prints, where no schedule changes it
    // schedule: some                  the race is seen on some schedules only (`schedule KEY:`: for this key alone)
    // ordered: TEXT                   with it: what the program prints if this run had no race (by
                                       the PTX model): then none may be reported, else one must be
    // missing: REGEX                  what each race says of the order that is missing
    // bugs: N                         how many findings there are
    // variable: NAME ...              which variable each race is of, one of these; NAME[]: with the index
    // device: emulated                a GPU cannot tell, and is not asked
    // weak: fails|starves|never       what delayed stores make of it (litmus_suite/run_weak.py)
and the lines that race, there or in a header of the program's own, end in `// RACE` (`// RACE KEY`: for this key alone), the barriers that diverge
in `// DIVERGENCE`. A finding is right when all its places are on marked lines; a racy program needs at least one. The program's own
output must be that of a run without logging (for programs that expect none).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

FINDINGS_STATUS = 66


def read_note(source, name):
    """The words of the line `// name: words`, or None."""
    pattern = re.compile(r"//\s*%s:\s*(.*)" % name)
    with open(source, encoding="utf-8") as file:
        for line in file:
            if match := pattern.match(line.strip()):
                return match.group(1).split()
    return None


def with_headers(sources):
    """The sources, and the files that they include from folders of the program's own."""
    files = list(sources)
    for source in sources:
        with open(source, encoding="utf-8") as file:
            names = re.findall(r'^#include "([^"]+)"', file.read(), re.MULTILINE)
        paths = (os.path.join(os.path.dirname(source), name) for name in names)
        files += [path for path in paths if os.path.exists(path)]
    return files


def read_marked(sources, key):
    """The marked (file name, line) pairs of all sources, and of the headers that they include."""
    marked = set()
    for source in with_headers(sources):
        with open(source, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                mark = re.search(r"//\s*(?:RACE|DIVERGENCE)\b *(\w*)", line)
                if mark and mark.group(1) in ("", key):
                    marked.add((os.path.basename(source), number))
    return marked


def read_expectation(sources, key):
    """The expectation for this key, or else the general one, and the marked places."""
    names = ["expect " + key, "expect"] if key else ["expect"]
    for name in names:
        notes = [note for note in (read_note(source, name) for source in sources) if note]
        if notes:
            return notes[-1], read_marked(sources, key)
    sys.exit("%s: no expectation found" % sources[0])


def run(command, environment=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300, env=environment, check=False)


def place(access):
    return (os.path.basename(access["file"] or "?"), access["line"])


def check_places(finding, marked):
    places = [place(access) for access in finding["accesses"]]
    if all(p in marked for p in places):
        return []
    return ["a %s outside the marked lines: %s" %
            (finding["type"], " and ".join("%s:%s" % p for p in places))]


def check_race(findings, expectation, marked, any_line):
    kind, space = (expectation[1:] + ["-", "-"])[:2]
    problems = []
    races = [f for f in findings if f["type"] == "race"]
    problems += ["reported: %s" % json.dumps(f) for f in findings if f not in races]
    if not races:
        problems.append("no race was reported")
    for race in races:
        if not any_line:
            problems += check_places(race, marked)
    kinds = [(variant["kind"], r["space"]) for r in races for variant in [r] + r["variants"]]
    if not any(kind in ("-", k) and space in ("-", s) for k, s in kinds):
        problems.append("no %s race in %s memory" % (kind, space))
    return problems


def check_divergence(findings, marked):
    problems = []
    divergences = [f for f in findings if f["type"] == "barrier-divergence"]
    if not divergences:
        problems.append("no barrier divergence was reported")
    for divergence in divergences:
        problems += check_places(divergence, marked)
    for finding in findings:
        # A kernel that cannot go on is ended, which is a finding of its own.
        if finding not in divergences and finding["type"] not in ("deadlock", "timeout"):
            problems.append("reported: %s" % json.dumps(finding))
    return problems


def check_registers(findings, marked):
    problems = [] if findings else ["no register is reported"]
    for finding in findings:
        problems += check_places(finding, marked)
        if finding["type"] != "async-register":
            problems.append("reported: %s" % json.dumps(finding))
    return problems


def read_report(json_file):
    if not os.path.exists(json_file):
        return []
    with open(json_file, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tool_command(barracuda, device, options):
    command = [barracuda, "run", "--device", device]
    for option in options:
        command.append("--" + option)  # NAME=VALUE: a flag's bare name means 1
    return command


def device_options(device, expectation):
    """What a program needs on this device: a kernel with a divergent barrier hangs on a GPU."""
    return ["launch-timeout=5", "at-launch-timeout=end"] if device == "gpu" and expectation[0] == "barrier-divergence" else []


def run_under_tool(tool, program):
    """The finished process, and the lines of its JSON report."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = os.path.join(folder, "findings.jsonl")
        result = run(tool + ["--json", json_file, "--"] + program)
        return result, read_report(json_file)


def check_summary(lines):
    """Coverage is complete unless a kernel was ended, which is then all that stands against it."""
    if not lines or lines[-1]["type"] != "summary":
        return ["the JSON report has no summary"]
    # A GPU's kernel cannot be ended, so its program is.
    ended = [gap for gap in lines[-1]["not_covered"]
             if re.search("was ended before its end|was ended with kernels under way", gap)]
    was_ended = ended or any(line["type"] in ("deadlock", "timeout") for line in lines)
    is_all = len(ended) == len(lines[-1]["not_covered"])
    if not is_all or lines[-1].get("coverage") != ("incomplete" if was_ended else "complete"):
        return ["coverage is %s: %s" % (lines[-1].get("coverage"), lines[-1].get("not_covered"))]
    return []


def check_status(result, expectation):
    status = 0 if expectation[0] == "none" else FINDINGS_STATUS
    if result.returncode == status:
        return []
    return ["exit status %d, not %d" % (result.returncode, status)]


def check_findings(findings, expectation, marked, any_line):
    if expectation[0] == "race":
        return check_race(findings, expectation, marked, any_line)
    if expectation[0] == "barrier-divergence":
        return check_divergence(findings, marked)
    if expectation[0] == "async-register":
        return check_registers(findings, marked)
    return ["reported: %s" % json.dumps(finding) for finding in findings]


def check_missing(findings, source):
    """What the races say of the order that is missing, where the source says what they must."""
    words = read_note(source, "missing")
    if words is None:
        return []
    pattern = " ".join(words)
    return ["the missing order is %r, not %r" % (race["missing"], pattern) for race in findings
            if race["type"] == "race" and not re.search(pattern, race["missing"] or "")]


def check_variables(findings, source, has_index):
    """Which variable each race is of, where the source says it; what was allocated is none. Where a GPU's system puts
    shared memory is not known, nor then the index."""
    words = read_note(source, "variable")
    if words is None:
        return []
    index = r"\[\d+\]" if has_index else r"(\[\d+\])*"
    pattern = r"[( ](%s)\)$" % "|".join(re.escape(word).replace(r"\[\]", index) for word in words)
    return ["the location is %r, not of %s" % (race["location"], " or ".join(words)) for race in findings
            if race["type"] == "race" and "(cudaMalloc" not in (race["location"] or "")
            and not re.search(pattern, race["location"] or "")]


def check_count(findings, source):
    """How many findings there are, where the source says how many."""
    words = read_note(source, "bugs")
    if words is None or len(findings) == int(words[0]):
        return []
    return ["%d findings, not %s: %s" % (len(findings), words[0], json.dumps(findings))]


def check_result(result, source):
    """What the program printed, where its source says what it prints."""
    words = read_note(source, "result")
    if words is None or result.stdout.split() == words:
        return []
    return ["the program's result is %r, not %r" % (result.stdout, " ".join(words))]


def runs_on(source, device):
    """Whether the program is for this device."""
    return device != "gpu" or read_note(source, "device") != ["emulated"]


def seen_on_some_schedules(source, key):
    return ["some"] in (read_note(source, "schedule"), read_note(source, "schedule %s" % key))


def had_race(result, lines, source, key):
    """Whether this run of a program that races on some schedules only had the race."""
    words = read_note(source, "ordered")
    if words is None or key not in ("", "ptx"):
        return len(lines) != 1
    return " ".join(words) not in result.stdout


def judge(result, lines, sources, key="", any_line=False):
    """What is wrong with one run under the tool."""
    expectation, marked = read_expectation(sources, key)
    if seen_on_some_schedules(sources[0], key) and not had_race(result, lines, sources[0], key):
        expectation = ["none"]
    problems = check_summary(lines) + check_status(result, expectation)
    problems += check_findings(lines[:-1], expectation, marked, any_line)
    on_gpu = bool(lines) and "emulated" not in (lines[-1].get("device") or "emulated")
    # Which access comes first, and so what is known of the second thread, is a GPU's own choice.
    if key in ("", "ptx") and lines and "emulated" in (lines[-1].get("device") or ""):
        problems += check_missing(lines[:-1], sources[0])
    problems += check_variables(lines[:-1], sources[0], not on_gpu)
    problems += check_count(lines[:-1], sources[0])
    problems += check_result(result, sources[0])
    if "BARRACUDA SUMMARY:" not in result.stderr:
        problems.append("no summary line on standard error")
    return problems


def conclude(problems, result, lines, program, expectation):
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

    if not runs_on(arguments.source[0], arguments.device):
        print("%s: not for this device" % arguments.program[0])
        return 0
    expectation, _ = read_expectation(arguments.source, arguments.key)
    tool = tool_command(arguments.barracuda, arguments.device,
                        arguments.option + device_options(arguments.device, expectation))
    result, lines = run_under_tool(tool, arguments.program)
    problems = judge(result, lines, arguments.source, arguments.key, arguments.any_line)
    if expectation[0] == "none":
        if arguments.device == "gpu":
            plain = run(arguments.program)
        else:
            plain = run(tool + ["--kernel-name", "no kernel has this name", "--"] +
                        arguments.program)
        if plain.stdout != result.stdout:
            problems.append("output %r, without logging %r" % (result.stdout, plain.stdout))

    return conclude(problems, result, lines, arguments.program[0], expectation)


if __name__ == "__main__":
    sys.exit(main())
