#!/usr/bin/env python3
"""Runs clang-tidy on the sources that standard input names ("KEY FILE" lines, as of tidy_seen.py), many at a time.

Most of what clang-tidy does for a source it does for its headers. So sources that are compiled alike are written one
behind the other into one file, a unit, which it reads once: the 63 files of host_detector/ take 120 seconds of a core;
24 of them took 320 one by one. Names of two anonymous namespaces may clash in a unit; sources whose names look as if
they did go into different ones, and a unit that does not compile is read in halves. Findings are printed with the
places of the sources.
`--seconds N` starts no unit after that time and says how many files are left. `--checks` is clang-tidy's; what is found
clean without all checks is not remembered.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tidy_seen import commands_of

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
FOLDER = BUILD / "tidy"
MOST_FILES = 72  # in a unit: about a minute and a half
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.MULTILINE | re.DOTALL)
# What a line that begins at its first column declares, and macros.
DECLARED = [re.compile(pattern, re.MULTILINE) for pattern in (
    r"^(?!//|using|namespace|return|template|struct|class|enum)[A-Za-z_][^;={(\n]*?\b([A-Za-z_]\w*)\s*[(={;\[]",
    r"^(?:struct|class|enum class|enum)\b[^;{=]*?\b([A-Z]\w*)\b",
    r"^using (\w+) =",
    r"^(?:constexpr|const|inline)\b[^(]*?\b(k[A-Z]\w*)[^(;]*, k[A-Z]",
    r"^(?:constexpr|const|inline)\b[^(;]*, (k[A-Z]\w*)")]
# Names of an enumeration, for all that stands behind it.
USING_ENUM = re.compile(r"^using enum \w+;", re.MULTILINE)
MACRO = re.compile(r"^ *#define (\w+)", re.MULTILINE)


def names_in(text):
    """What may clash with another source's: macros, and what the anonymous namespaces declare."""
    hidden = "".join(ANONYMOUS.findall(text))
    return set(MACRO.findall(text)).union(*(pattern.findall(hidden) for pattern in DECLARED))


@functools.cache
def names_in_headers(top):
    """What the headers of a folder of the tree declare."""
    texts = [header.read_text(encoding="utf-8") for header in (ROOT / top).rglob("*.h")]
    return {name for text in texts for pattern in DECLARED for name in pattern.findall(text)}


def stands_alone(folder, text, names):
    """Whether a source of the folder may be read as one with no other: it hides a name of a header of its folder, or of
    the folder that it tests, or it uses an enumeration's names."""
    parts = folder.relative_to(ROOT).parts
    tops = {parts[0], parts[2] if parts[0] == "tests" and len(parts) > 2 else parts[0]}
    return USING_ENUM.search(text) is not None or any(names & names_in_headers(top) for top in tops)


class Unit:
    """Sources that are read as one; `folder` has its text and how it is compiled."""

    def __init__(self, command):
        self.command, self.files, self.texts, self.names = command, [], [], set()
        self.folder = self.path = None

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.path = folder, folder / "unit.cpp"
        self.path.write_text("".join(self.texts), encoding="utf-8")
        command = {"directory": str(BUILD), "file": str(self.path), "command": f"{self.command} -o unit.o -c {self.path}"}
        (folder / "compile_commands.json").write_text(json.dumps([command]), encoding="utf-8")

    def halves(self):
        middle = len(self.files) // 2
        for name, part in (("a", slice(middle)), ("b", slice(middle, None))):
            half = Unit(self.command)
            for file, text in zip(self.files[part], self.texts[part]):
                half.add(file, text, set())
            half.write(self.folder / name)
            yield half

    def add(self, file, text, names):
        self.files.append(file)
        self.texts.append(text if text.endswith("\n") else text + "\n")
        self.names |= names

    def place(self, line):
        """The source and line of a line of the unit."""
        for file, text in zip(self.files, self.texts):
            count = text.count("\n")
            if line <= count:
                return file, line
            line -= count
        return self.files[-1], line


def unit_for(names, units, most_files, command=None):
    """The first unit with room for a source with these names, or a new one."""
    for unit in units:
        if len(unit.files) < most_files and not unit.names & names:
            return unit
    units.append(Unit(command))
    return units[-1]


def units_of(files):
    """Files that are compiled by one command, in units of files without common names."""
    entries = {entry["file"]: entry for entry in json.loads(commands_of(BUILD).read_text(encoding="utf-8"))}
    units = collections.defaultdict(list)
    for file in files:
        entry = entries.get(str(ROOT / file))
        if entry is None:
            sys.exit(f"tidy: {file} is not compiled in build/: `cmake --preset ci`, or a name that is wrong")
        text = (ROOT / file).read_text(encoding="utf-8")
        names = names_in(text)
        command = entry["command"].split(" -o ")[0]
        like = (command, file if stands_alone((ROOT / file).parent, text, names) else "")
        unit_for(names, units[like], MOST_FILES, command).add(file, text, names)
    return [unit for like in units.values() for unit in like]


def run(unit, checks):
    """(clean, output)"""
    # What is an error to the compiler is one to clang-tidy, whatever its checks are, and clang warns of what g++ does not.
    command = ["clang-tidy-19", "-p", unit.folder, "--quiet", "--extra-arg=-Wno-error", *checks, unit.path]
    result = subprocess.run(command, text=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return result.returncode == 0, result.stdout


def with_places(unit, output):
    def replaced(match):
        file, line = unit.place(int(match[1]))
        return f"{file}:{line}"
    return re.sub(re.escape(str(unit.path)) + r":(\d+)", replaced, output)


def check(unit, keys, checks):
    """Prints what is found; how many files have findings."""
    clean, output = run(unit, checks)
    if not clean and len(unit.files) > 1 and (not output or "clang-diagnostic-error" in output):
        return sum(check(half, keys, checks) for half in unit.halves())
    output = with_places(unit, output) or f"{unit.files[0]}: clang-tidy failed\n"
    bad = set() if clean else {file for file in unit.files if f"{file}:" in output} or set(unit.files)
    print("" if clean else output, end="", flush=True)
    if not checks:
        remembered = [keys[file] for file in unit.files if file not in bad]
        subprocess.run([ROOT / "tools/tidy_seen.py", "remember", *remembered], check=True)
    return len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--checks")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    checks = [f"--checks={arguments.checks}"] if arguments.checks else []
    keys = {file: key for key, file in (line.split() for line in sys.stdin)}
    units = sorted(units_of(keys), key=lambda unit: -len(unit.files))  # so that no core waits for a long one at the end
    shutil.rmtree(FOLDER, ignore_errors=True)
    for i, unit in enumerate(units):
        unit.write(FOLDER / str(i))

    def check_in_time(unit):
        return check(unit, keys, checks) if time.monotonic() < end else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check_in_time, units))
    left = sum(len(unit.files) for unit, bad in zip(units, results) if bad is None)
    if left:
        print(f"time is up: {left} files are not checked")
    bad = sum(filter(None, results))
    print(f"clang-tidy: {len(keys) - left} files checked in {len(units)} units, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
