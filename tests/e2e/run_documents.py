#!/usr/bin/env python3
"""Runs the commands that the documents show, and compares what they print with what the documents say.

    tests/e2e/run_documents.py [--update] [--build FOLDER] [PAGE...]      (default: README.md and all of docs/)

What is run are the fences marked `console`: a line that begins with `$ ` is a command, the lines below it are
its output, standard error included. Of any other fence `<!-- printed by: COMMAND -->` above it says what prints it. A
line `…` stands for any lines, and `…` in a line for any text; addresses are not compared. All commands of a page
run in one shell, in the tree that was built (`build/` is then the build folder). A page that has files runs in an
empty folder that has them: `<!-- file: NAME -->` above a fence. Another compiler makes other programs: exit
status 77, as tests/e2e/golden_reports.py. In every fence the flags of `barracuda` must be flags that there are.
--update writes what is printed now, where no `…` stands: read the diff.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import golden_reports

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?:<!-- (?:file: (?P<file>\S+)|printed by: (?P<command>.+)) -->\n)?```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.M | re.S)
LEFT_OUT = "…"
# What the documents call the folder in which the commands run.
HOME = "/home/you"


class Command:
    def __init__(self, text, page, line):
        self.text, self.page, self.line = text, page, line
        self.expected = []
        self.printed = []

    def is_as_expected(self):
        return matches([masked(line) for line in self.expected], [masked(line) for line in self.printed])

    def is_abridged(self):
        return any(LEFT_OUT in line for line in self.expected)


def masked(line):
    return re.sub(r"0x[0-9a-f]+", "0x", line.rstrip())


def matches(expected, printed):
    """Whether the lines are these, where a line `…` is any number of them."""
    if not expected:
        return not printed
    first, rest = expected[0], expected[1:]
    if first.strip() == LEFT_OUT:
        return any(matches(rest, printed[i:]) for i in range(len(printed) + 1))
    pattern = ".*".join(map(re.escape, first.split(LEFT_OUT)))
    return bool(printed) and re.fullmatch(pattern, printed[0]) is not None and matches(rest, printed[1:])


def commands_of(name, text):
    found = []
    for fence in FENCE.finditer(text):
        first = text.count("\n", 0, fence.start("text")) + 1
        if fence["command"]:
            found.append(Command(fence["command"], name, first - 1))
            found[-1].expected = fence["text"].splitlines()
        if fence["language"] != "console":
            continue
        for number, line in enumerate(fence["text"].splitlines(), start=first):
            if line.startswith("$ "):
                found.append(Command(line[2:], name, number))
            elif found and found[-1].line >= first:
                found[-1].expected.append(line)
            else:
                raise SystemExit("%s:%d: output without a command" % (name, number))
    return found


def known_flags(build):
    """By command, from what completes them in a shell, which is made of the option table."""
    script = subprocess.run([str(build / "bin/barracuda"), "--generate", "bash"], text=True, capture_output=True, check=True).stdout
    return {command: set(words.split()) for command, words in re.findall(r'^    (\w+)\) words="(.+)" ;;$', script, re.M)}


def unknown_flags(name, text, known):
    for fence in FENCE.finditer(text):
        for call in re.finditer(r"\bbarracuda (\w+)\b(.*?)(?: -- |$)", fence["text"], re.M):
            for flag in re.findall(r"(?<![\w-])--[\w-]+", call[2].partition(" #")[0]):
                if flag not in known.get(call[1], {flag}):
                    line = text.count("\n", 0, fence.start("text") + call.start()) + 1
                    yield "%s:%d: barracuda %s has no %s" % (name, line, call[1], flag)


def files_of(text):
    return {fence["file"]: fence["text"] for fence in FENCE.finditer(text) if fence["file"]}


def cache_entry(build, name):
    match = re.search(r"^%s:\w+=(.*)$" % name, (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    return match.group(1)


def environment(build):
    nvcc = os.environ.get("NVCC") or cache_entry(build, "BARRACUDA_NVCC")
    library = Path(nvcc).resolve().parent.parent / "lib64"
    result = {name: value for name, value in os.environ.items() if not name.startswith("BARRACUDA_")}
    result["PATH"] = os.pathsep.join([str(build / "bin"), str(Path(nvcc).parent), os.environ["PATH"]])
    result["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), str(library)]))
    return result


def run(commands, folder, build, keeps_build_name):
    """In one shell, so that a variable, or $? of the command before, is there for the next."""
    with tempfile.TemporaryDirectory() as outputs:
        script = ""
        for number, command in enumerate(commands):
            text = command.text if keeps_build_name else re.sub(r"\bbuild/", str(build) + "/", command.text)
            script += "{ %s\n} >'%s/%d' 2>&1\n" % (text, outputs, number)
        subprocess.run(["bash", "-c", script], cwd=folder, env=environment(build), stdin=subprocess.DEVNULL,
                       timeout=600, check=False)
        for number, command in enumerate(commands):
            output = Path(outputs, str(number))
            printed = output.read_text(encoding="utf-8") if output.exists() else "(the shell has ended before)"
            printed = printed.replace(str(build) + "/", "build/").replace(str(folder), HOME)
            command.printed = printed.splitlines()


def run_page(name, text, build):
    commands, files = commands_of(name, text), files_of(text)
    if files:
        with tempfile.TemporaryDirectory() as folder:
            for file, content in files.items():
                Path(folder, file).write_text(content, encoding="utf-8")
            run(commands, os.path.realpath(folder), build, keeps_build_name=True)
    elif commands:
        # Where the programs were compiled, which is where their reports say that the sources are.
        run(commands, cache_entry(build, "CMAKE_HOME_DIRECTORY"), build, keeps_build_name=False)
    return commands


def updated(text, commands):
    lines = text.splitlines()
    for command in reversed(commands):
        if not command.is_abridged():
            lines[command.line:command.line + len(command.expected)] = command.printed
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    if not arguments.update and golden_reports.toolkit() != golden_reports.read(golden_reports.TOOLKIT):
        print("skipped: the documents' outputs are those of another compiler")
        return 77
    names = arguments.pages or ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))]
    count, wrong, faults, known = 0, 0, 0, known_flags(arguments.build.resolve())
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        unknown = list(unknown_flags(name, text, known))
        print("\n".join(unknown), end="\n" if unknown else "")
        faults += len(unknown)
        commands = run_page(name, text, arguments.build.resolve())
        if arguments.update and commands:
            (ROOT / name).write_text(updated(text, commands), encoding="utf-8")
        for command in commands:
            count += 1
            if not command.is_as_expected():
                wrong += 1
                print("%s:%d: $ %s" % (name, command.line, command.text))
                print("\n".join(difflib.unified_diff(command.expected, command.printed, "documented", "printed", lineterm="")))
    print("%d commands, %d as documented" % (count, count - wrong))
    if count == 0:
        print("no command was run")
    return 0 if arguments.update else int(wrong + faults > 0 or count == 0)


if __name__ == "__main__":
    sys.exit(main())
