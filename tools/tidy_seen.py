#!/usr/bin/env python3
"""Remembers which sources clang-tidy found nothing in, so that it need not read them again.

`tidy_seen.py keys FILE...` prints a line "KEY FILE" for each: the key is a digest of all that the verdict depends on,
that is clang-tidy and its checks, how the file is compiled, and the text of it and of every header that the last build
read for it. "-" for a file of which ninja knows no headers, or which has changed since: it is always read.
`tidy_seen.py unseen` passes through those lines whose key is not remembered; `tidy_seen.py remember KEY` adds one.
A verdict that is remembered is the verdict that clang-tidy would give, so what is remembered decides only how long it takes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def commands_of(build):
    """The file with the command of each source (tools/tidy.sh)."""
    single = build / "single_commands.json"
    return single if single.exists() else build / "compile_commands.json"


def seen_folder():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "barracuda-tidy"


def headers_by_object():
    """What ninja's log of dependencies says of each object file: when it was made, and what was read for it."""
    lines = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], text=True, capture_output=True, check=False).stdout
    headers, current = {}, []
    for line in lines.splitlines():
        if line.startswith("    "):
            current.append(line.strip())
        elif ": #deps" in line:
            name, state = line.split(": #deps", 1)
            made = re.search(r"deps mtime (\d+) \(VALID\)", state)
            current = []
            if made:
                headers[name] = (int(made[1]), current)
    return headers


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Keys:
    def __init__(self):
        self.of_path = {}
        self.headers = headers_by_object()
        version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, check=True).stdout
        self.checker = digest(version) + self.of_file(ROOT / ".clang-tidy")
        entries = json.loads(commands_of(BUILD).read_text(encoding="utf-8"))
        self.entries = {entry["file"]: entry for entry in entries}

    def of_file(self, path):
        if path not in self.of_path:
            self.of_path[path] = digest(path.read_bytes())
        return self.of_path[path]

    def of_source(self, name):
        entry = self.entries.get(str(ROOT / name))
        made, headers = self.headers.get(entry["command"].split(" -o ")[1].split()[0], (0, [])) if entry else (0, [])
        if not headers or any((BUILD / header).stat().st_mtime_ns > made for header in headers):
            return "-"
        # Where the checkout lies makes no difference.
        parts = [self.checker, entry["command"].replace(str(ROOT), "")]
        for header in sorted(headers):
            parts += [header.replace(str(ROOT), ""), self.of_file(BUILD / header)]
        return digest("\n".join(parts).encode())


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "keys":
        keys = Keys()
        for name in arguments:
            print(keys.of_source(name), name)
    elif command == "unseen":
        sys.stdout.writelines(line for line in sys.stdin if not (seen_folder() / line.split()[0]).exists())
    elif command == "remember":
        for key in arguments:
            if key != "-":
                seen_folder().mkdir(parents=True, exist_ok=True)
                (seen_folder() / key).touch()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
