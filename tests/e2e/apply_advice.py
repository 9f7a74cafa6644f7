#!/usr/bin/env python3
"""Does to a racy program what its report advises, and expects that nothing is left to report.

    tests/e2e/apply_advice.py SOURCE...      these programs
    tests/e2e/apply_advice.py                every racy program of examples/, litmus_suite/ and tests/e2e/advice/

Each program is compiled, run on the emulated device, changed at the lines that the report names,
compiled and run again. What takes more than a change of a line is listed below with the reason, and
is not tried; a program that is neither cured nor listed is an error.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["examples", "litmus_suite/suite", "litmus_suite/modern", "tests/e2e/advice"]
TAIL = re.compile(r"\s*//.*$")


class NotMechanical(Exception):
    """Why a change of lines does not do it."""


def code(line):
    return TAIL.sub("", line.rstrip("\n"))


class Source:
    """The lines of a program, and the changes to be made to them."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = [line.rstrip("\n") for line in file]
        self.before, self.after, self.moved = {}, {}, {}

    def has(self, place):
        return place is not None and os.path.basename(place[0]) == os.path.basename(self.path)

    def line(self, number):
        return code(self.lines[number - 1])

    def start_of_statement(self, number):
        while number > 1:
            above = self.line(number - 1).strip()
            if not above or above[-1] in ";{}:" or above.startswith("#"):
                return number
            number -= 1
        return number

    def end_of_statement(self, number):
        while number < len(self.lines) and not self.line(number).rstrip().endswith((";", "}", "{")):
            number += 1
        return number

    def openers(self, number):
        """The lines of the blocks that a line lies in, the outermost first."""
        open_at = []
        for at in range(1, number):
            for sign in re.findall(r"[{}]", self.line(at)):
                if sign == "{":
                    open_at.append(at)
                elif open_at:
                    open_at.pop()
        if self.line(number).strip().startswith("}") and open_at:
            open_at.pop()
        return open_at

    def insert_before(self, number, text):
        self.before.setdefault(self.start_of_statement(number), set()).add(text)

    def insert_after(self, number, text):
        self.after.setdefault(self.end_of_statement(number), set()).add(text)

    def substitute(self, number, pattern, text, reason):
        changed, count = re.subn(pattern, text, self.line(number), count=1)
        if count == 0:
            raise NotMechanical(reason)
        self.lines[number - 1] = changed

    def substitute_everywhere(self, pattern, text):
        self.lines = [re.sub(pattern, text, line) for line in self.lines]

    def insert_between(self, one, other, text):
        """A barrier between two lines, where all threads come by."""
        one, other = sorted((self.start_of_statement(one), self.start_of_statement(other)))
        if one == other:
            raise NotMechanical("both accesses are in one statement: it has to be taken apart")
        outer, inner = self.openers(one), self.openers(other)
        common = 0
        while common < min(len(outer), len(inner)) and outer[common] == inner[common]:
            common += 1
        later = inner[common] if common < len(inner) else other
        if re.match(r"\s*}?\s*else\b", self.line(later)):
            raise NotMechanical("the two are on two ways of one branch: it has to end before")
        name = text.rstrip("();")
        if any(name in self.line(at) for at in range(one, other)):
            if common < len(inner):
                raise NotMechanical("a barrier lies between, the next belongs to the end of the loop")
            self.insert_after(other, text)
            return
        self.insert_before(later, text)

    def insert_before_next_round(self, one, other, text):
        """A barrier at the end of the innermost loop that both lines are in."""
        openers = [at for at in self.openers(one) if at in self.openers(other)]
        loops = [at for at in openers if re.search(r"\b(for|while|do)\b", self.line(at))]
        if not loops:
            raise NotMechanical("the loop's braces are not found")
        closing = next(at for at in range(max(one, other), len(self.lines) + 1)
                       if loops[-1] not in self.openers(at))
        self.before.setdefault(closing, set()).add(text)

    def wait_after(self, number):
        for at in range(number + 1, len(self.lines) + 1):
            if re.search(r"wait", self.line(at), re.IGNORECASE):
                return at
        raise NotMechanical("the wait for the copy is not found")

    def move(self, number, before):
        if self.line(number).count(";") != 1 or self.openers(number) != self.openers(before):
            raise NotMechanical("the statement cannot be moved as it stands")
        self.moved[number] = self.start_of_statement(before)

    def text(self):
        lines = []
        for number, line in enumerate(self.lines, 1):
            lines += [self.lines[moved - 1] for moved, to in self.moved.items() if to == number]
            lines += sorted(self.before.get(number, ()))
            lines += [] if number in self.moved else [line]
            lines += sorted(self.after.get(number, ()))
        include = os.path.dirname(os.path.abspath(self.path))
        return re.sub(r'#include "(?=[^"/]*/|[^"/]*\.cuh?"|[^"]*\.h")',
                      lambda match: '#include "%s/' % include, "\n".join(lines) + "\n")


def places_named(missing):
    return [(match.group(1), int(match.group(2)))
            for match in re.finditer(r" at (\S+?):(\d+)", missing)]


def lines_of(source, finding):
    lines = []
    for access in finding["accesses"]:
        if not source.has((access["file"] or "?", access["line"])):
            raise NotMechanical("an access lies in another file")
        lines.append(access["line"])
    return lines


def fence_before_named(source, finding):
    for _, line in places_named(finding["missing"]):
        source.insert_before(line, "__threadfence();")


def fence_before_access(source, finding):
    source.insert_before(lines_of(source, finding)[1], "__threadfence();")


def both_fences(source, finding):
    fence_before_named(source, finding)
    fence_before_access(source, finding)


def barrier(name):
    def do(source, finding):
        lines = lines_of(source, finding)
        between_rounds = "before the next round" in finding["missing"]
        if "wait for the asynchronous copy" in finding["missing"]:
            source.insert_between(source.wait_after(min(lines)), max(lines), name)
        elif "between the two accesses" in finding["missing"] or not between_rounds:
            source.insert_between(*lines, name)
        if between_rounds:
            source.insert_before_next_round(*lines, name)
    return do


def another_like_it(source, finding):
    (_, line), = places_named(finding["missing"])
    source.insert_after(lines_of(source, finding)[0], source.line(line))


def one_thread_alone(source, finding):
    for line in set(lines_of(source, finding)):
        source.insert_before(line, "if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0)")


def atomic_update(source, finding):
    places = zip(finding["accesses"], lines_of(source, finding))
    for line in {line for access, line in places if access["op"] != "atomic"}:
        text = source.line(line)
        target = r"([\w.]+(?:\[[^=]*\])?)"
        for pattern, result in [
                (r"%s\s*\+\+" % target, r"atomicAdd(&\1, 1)"),
                (r"%s\s*\+=\s*([^;]+);" % target, r"atomicAdd(&\1, \2);"),
                (r"([\w.]+(?:\[[^=]*\])?)\s*=\s*\1\s*\+\s*([^;]+);", r"atomicAdd(&\1, \2);"),
                (r"^(\s*)\*([\w]+)\s*=\s*([^;=]+);", r"\1atomicExch(\2, \3);"),
                (r"^(\s*)([\w.]+(?:\[[^=]*\])?|[\w.]+\([^=]*\)\[\d+\])\s*=\s*([^;=]+);",
                 r"\1atomicExch(&\2, \3);")]:
            if re.search(pattern, text):
                source.lines[line - 1] = re.sub(pattern, result, text, count=1)
                break
        else:
            raise NotMechanical("the statement is no plain store or sum")


def atomic_beside_atomic(source, finding):
    lines = lines_of(source, finding)
    plain = 1 if finding["accesses"][0]["op"] == "atomic" else 0
    if "ld.global" in source.line(lines[plain]):
        source.substitute(lines[plain], r"ld\.global", "ld.volatile.global", "")
        return
    match = re.search(r"atomic\w+\(&([^,]+),", source.line(lines[1 - plain]))
    if match is None:
        raise NotMechanical("the atomic is no function with an address")
    place = re.escape(match.group(1))
    if finding["accesses"][plain]["op"] == "read":
        source.substitute(lines[plain], place, "atomicAdd(&%s, 0)" % match.group(1),
                          "the read is written in another way")
    else:
        source.substitute(lines[plain], place + r"\s*=\s*([^;]+);",
                          r"atomicExch(&%s, \1);" % match.group(1),
                          "the write is written in another way")


def wider_scope(source, finding):
    source.substitute_everywhere(r"__threadfence_block\(\)", "__threadfence()")
    source.substitute_everywhere(r"(atomic\w+)_block\(", r"\1(")
    source.substitute_everywhere("thread_scope_block", "thread_scope_device")


def come_before(source, finding):
    (_, before), = places_named(finding["missing"])
    source.move(lines_of(source, finding)[0], before)


def volatile_load(source, finding):
    for _, line in places_named(finding["missing"]):
        if "ld.volatile" not in source.line(line):
            source.substitute(line, r"ld\.global", "ld.volatile.global", "the load is no instruction")


def whole_mask(source, finding):
    if "__syncwarp" not in source.line(places_named(finding["missing"])[0][1]):
        raise NotMechanical("a group of lanes has to be made anew")
    source.substitute_everywhere(r"__syncwarp\(0x\w+\)", "__syncwarp()")


def ordinary_load(source, finding):
    source.substitute(lines_of(source, finding)[1], r"__ldg\(", "*const_cast<volatile int*>(",
                      "the compiler chose the path")


def refuse(reason):
    def do(_source, _finding):
        raise NotMechanical(reason)
    return do


# What a report says, and the change of the source that does it.
REMEDIES = [
    (r"is missing in two places", both_fences),
    (r"published without a fence", fence_before_named),
    (r"a third thread hands on", fence_before_named),
    (r"no fence follows", fence_before_access),
    (r"an atomic operation is needed", atomic_update),
    (r"whole update must be an atomic operation", atomic_update),
    (r"beside the atomic", atomic_beside_atomic),
    (r"scope.* is too narrow", wider_scope),
    (r"it must come before$", come_before),
    (r"is missing directly before it", fence_before_named),
    (r"or volatile one is needed", volatile_load),
    (r"the mask of", whole_mask),
    (r"__syncwarp\(\) is missing", barrier("__syncwarp();")),
    (r"__syncthreads\(\) is missing", barrier("__syncthreads();")),
    (r"cluster\.sync\(\) is missing in all blocks", lambda source, finding: source.insert_before(
        max(lines_of(source, finding)), "cooperative_groups::this_cluster().sync();")),
    (r"one more is missing between the two accesses", another_like_it),
    (r"a dependency between them", refuse("the graph is made by the host")),
    (r"change of the tensor map", refuse("two fences are inline PTX")),
    (r"cluster\.sync\(\) is missing", barrier("cooperative_groups::this_cluster().sync();")),
    (r"cudaGridDependencySynchronize\(\).* is missing", lambda source, finding: source.insert_before(
        lines_of(source, finding)[1], "cudaGridDependencySynchronize();")),
    (r"fence\.proxy\.async is missing", lambda source, finding: source.insert_after(
        lines_of(source, finding)[0], 'asm volatile("fence.proxy.async;" ::: "memory");')),
    (r"can stand in it: the two accesses must be atomic", refuse("the loop has to be written anew")),
    (r"an ordinary load is needed", ordinary_load),
    (r"a launch of its own", refuse("the kernel has to be split in two")),
    (r"to a second array", refuse("a second array has to be allocated")),
    (r"must wait until it succeeds", refuse("a loop has to be written")),
    (r"one more of the kind", refuse("a named barrier is inline PTX")),
    (r"wait at is missing", refuse("a named barrier is inline PTX")),
    (r"does not wait", refuse("the wait depends on the barrier's type")),
    (r"one that releases is needed", refuse("the arrival depends on the barrier's type")),
    (r"the right phase", refuse("the phases have to be counted")),
    (r"is not waited for", refuse("the wait depends on the copy's kind, and stands before a barrier")),
    (r"no stream order", refuse("the order of launches is the host's")),
    (r"each needs a word of its own", refuse("the structure has to be laid out anew")),
    (r"one size is needed", refuse("another type has to be chosen")),
    (r"atomic ones are needed", refuse("another type has to be chosen")),
    (r"one thread alone", one_thread_alone),
    (r"must take it as well", refuse("a lock has to be taken and given back")),
    (r"cluster scope \(\.cluster\) is needed for both", refuse("the operations are inline PTX")),
    (r"each place needs one thread, or a lock", refuse("the algorithm has to be changed")),
    (r"over at no time that its thread can know", refuse("another kind of store has to be chosen")),
]


def apply(source, findings):
    done = set()
    for finding in findings:
        change = (finding["missing"], tuple(str(access["line"]) for access in finding["accesses"]))
        remedies = [act for pattern, act in REMEDIES if re.search(pattern, finding["missing"])]
        if not remedies:
            raise NotMechanical("NO REMEDY is named: %s" % finding["missing"])
        if change not in done:
            remedies[0](source, finding)
        done.add(change)


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder

    def build(self, source, name, flags):
        program = os.path.join(self.folder, name)
        command = [self.arguments.nvcc, "-std=c++17", "-lineinfo", "-cudart", "shared", *flags,
                   source, "-o", program]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit("%s does not compile:\n%s%s" % (source, result.stdout, result.stderr))
        return program

    def findings(self, program):
        report = program + ".jsonl"
        command = [self.arguments.barracuda, "run", "--device", "cpu", "--workers", "1", "--json",
                   report, "--", program]
        subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        with open(report, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if line["type"] in ("race", "barrier-divergence",
                                                            "memory-error")]


def flags_of(path):
    with open(path, encoding="utf-8") as file:
        match = re.search(r"^// flags: (.*)$", file.read(), re.MULTILINE)
    return match.group(1).split() if match else []


def examine(bench, path):
    """What became of one program: cured, not mechanical, none (nothing was reported) or wrong."""
    name = os.path.splitext(os.path.basename(path))[0]
    flags = flags_of(path)
    findings = bench.findings(bench.build(path, name, flags))
    if not findings:
        return "none", ""
    source = Source(path)
    try:
        apply(source, findings)
    except NotMechanical as reason:
        return "not mechanical", str(reason)
    changed = os.path.join(bench.folder, name + "_changed.cu")
    with open(changed, "w", encoding="utf-8") as file:
        file.write(source.text())
    try:
        left = bench.findings(bench.build(changed, name + "_changed", flags))
    except (SystemExit, subprocess.TimeoutExpired) as failure:
        return "WRONG", "what was changed does not run: %s" % str(failure)[:300]
    if not left:
        return "cured", findings[0]["missing"]
    return "WRONG", "%s\n  left: %s" % ("; ".join(f["missing"] for f in findings),
                                        "; ".join(f["missing"] or "?" for f in left))


def racy_programs():
    return [path for folder in FOLDERS
            for path in sorted(glob.glob(os.path.join(ROOT, folder, "*_race.cu")))]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--barracuda", default=os.path.join(ROOT, "build/bin/barracuda"))
    parser.add_argument("--nvcc", default=os.environ.get("NVCC", "nvcc"))
    parser.add_argument("--must-cure", action="store_true", help="what is not cured is an error")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            paths = arguments.sources or racy_programs()
            for path, (verdict, why) in zip(paths, pool.map(lambda p: examine(bench, p), paths)):
                print("%-14s %s: %s" % (verdict, os.path.basename(path), why), flush=True)
                failed |= verdict == "WRONG" or (arguments.must_cure and verdict != "cured")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
