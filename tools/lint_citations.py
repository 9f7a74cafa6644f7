#!/usr/bin/env python3
"""Checks that what comments and documents cite is there: files, functions, sections of a document, anchors.

Reads the names of all files of the tree, one a line, on standard input; takes the tree's root.
"""

import posixpath
import re
import sys
from pathlib import Path

TEXTS = (".md", ".h", ".cpp", ".cu", ".cuh", ".c", ".S", ".def", ".py", ".sh", ".cmake", ".txt")
EXTENSIONS = "md|h|cpp|cu|cuh|c|S|def|py|sh|cmake|txt|json|tsv|supp|map|ptx|expected"
# Trees of other files: what a test of a lint forbids, what a program prints or is given.
NOT_READ = ("tests/unit/tools/", "tests/golden/ptx/cases/", "tests/fuzz/corpus/", "tools/corpora/")

COMMENT = re.compile(r"^\s*(?://|#(?!include|define|if|el|endif|pragma|undef)|\*)\s?(.*)$")
CODE_WITH_SLASHES = (".h", ".cpp", ".cu", ".cuh", ".c", ".S", ".def")
PATH = re.compile(r"(?<![\w./$<%{}\"-])((?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:" + EXTENSIONS + r"))(?![\w/]|:\d)")
# `RACE_RULES section 1`, `RACE_RULES.md 4`, `section 2 of RACE_RULES.md`.
SECTION = re.compile(r"\b([A-Z][A-Z_]+)(?:\.md)?,? +(?:sections? +)?(\d+(?:\.\d+)*)\b(?! *%)")
SECTION_OF = re.compile(r"\b[Ss]ections? +(\d+(?:\.\d+)*) of `?(?:docs/)?([A-Z][A-Z_]+)(?:\.md)?\b")
BARE_SECTION = re.compile(r"\b[Ss]ections? \d+(?:\.\d+)*")
KNOWN_BOOK = re.compile(r"(?:\b[A-Z][A-Z_]{2,}(?:\.md)?,?|PLDI 2017,|paper's definition \(|\bISA) ?$")
LINK = re.compile(r"\]\(([^()\s]+)\)")
ANCHORED = re.compile(r"\b(docs/[\w/.-]+\.md)#([\w-]+)")
FOLDER = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")
# What is not of the tree: headers of CUDA, CCCL and libc, what the build makes, a name to fill in.
OTHERS = re.compile(r"^(cuda|cooperative_groups|nv/|nvrtc|nvJitLink|nvPTX|cub/|thrust/|crt/|mma\.h|build(-\w+)?/|share/|elf\.h|link\.h|agent_|warp_|"
                    r"thread_(load|store)|compile_commands|programs/\w+\.ptx|barracuda\.)"
                    r"|(^|/|_)(NAME|FILE|TRACE)\b|(^|/)NAME_|CMakeLists")
HEADING = re.compile(r"^(#+) +(.*?) *#*$", re.M)
# A row of a table: a file, and what of it is spoken of.
FUNCTION_ROW = re.compile(r"^\| `([\w/.-]+)` \| ([^|]*`[^|]*) \|", re.M)
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def slug(heading):
    """The anchor that a heading gets on the usual web pages of a repository."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Tree:
    def __init__(self, root, names):
        self.root = root
        self.names = names
        self.folders = {name.split("/")[0] for name in names if "/" in name}
        self.suffixes = set()
        for name in names:
            parts = name.split("/")
            self.suffixes.update("/".join(parts[i:]) for i in range(len(parts)))
        self.headings = {}

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def has(self, path):
        return path in self.suffixes or (self.root / path).exists()

    def has_folder(self, path):
        """Or a noun: the files of a header and its source."""
        return (self.root / path).exists() or path + ".h" in self.names

    def headings_of(self, document):
        if document not in self.headings:
            text = FENCE.sub("", self.read(document))
            self.headings[document] = [match.group(2) for match in HEADING.finditer(text)]
        return self.headings[document]

    def has_anchor(self, document, anchor):
        return anchor in map(slug, self.headings_of(document))

    def has_section(self, document, number):
        return any(re.match(re.escape(number) + r"\.?(\s|$)", heading)
                   for heading in self.headings_of(document))


def prose_of(name, text):
    """(line, text) of what is written for people: a document whole, of code the comments. A comment of
    several lines is one text, for a citation may be wrapped."""
    if name.endswith(".md"):
        return [(1, text)]
    pieces, block, start = [], [], 0
    for number, line in enumerate(text.splitlines() + [""], start=1):
        match = COMMENT.match(line)
        if match and not (match.group(0).lstrip().startswith("#") and name.endswith(CODE_WITH_SLASHES)):
            start = start if block else number
            block.append(match.group(1))
            continue
        if block:
            pieces.append((start, "\n".join(block)))
            block = []
        _, slashes, comment = line.partition(" // ")
        if slashes and name.endswith(CODE_WITH_SLASHES):
            pieces.append((number, comment))
    return pieces


def section_faults(tree, text):
    one_line = re.sub(r"\s", " ", text)
    cited = [(m.start(), m.group(1), m.group(2)) for m in SECTION.finditer(one_line)]
    cited += [(m.start(), m.group(2), m.group(1)) for m in SECTION_OF.finditer(one_line)]
    for at, name, number in cited:
        document = "docs/%s.md" % name
        if document in tree.names and not tree.has_section(document, number):
            yield at, "%s has no section %s" % (document, number)


def path_faults(tree, name, text):
    is_document = name.endswith(".md")
    if is_document:  # links have a rule of their own
        text = LINK.sub(lambda match: " " * len(match.group()), text)
    for match in PATH.finditer(text):
        path = match.group(1)
        # A document speaks of a user's files, too.
        is_ours = "/" in path or path.endswith(".md") or not is_document
        if is_ours and not tree.has(path) and not OTHERS.search(path):
            yield match.start(), "there is no %s" % path
    for match in FOLDER.finditer(text if is_document else ""):
        path = match.group(1)
        is_file = PATH.fullmatch(path)
        if path.split("/")[0] in tree.folders and not is_file and not tree.has_folder(path):
            yield match.start(), "there is no %s" % path


def function_faults(tree, text):
    for match in FUNCTION_ROW.finditer(text):
        path = match.group(1)
        code = tree.read(path) if path in tree.names else ""
        for name in re.findall(r"`([\w:]+)`", match.group(2)):
            if code and not re.search(r"\b%s\b" % name.split("::")[-1], code):
                yield match.start(), "%s has no %s" % (path, name)


def section_without_document(text):
    """Of what is `section 1`? In code nothing but the words before it can say."""
    one_line = re.sub(r"\s", " ", text)
    for match in BARE_SECTION.finditer(one_line):
        if not KNOWN_BOOK.search(one_line[:match.start()][-60:]) and not re.match(
                r" of `?[\w/]*[A-Z]{2}", one_line[match.end():]):
            yield match.start(), "%s of which document?" % match.group()


def anchor_faults(tree, name, text):
    for match in ANCHORED.finditer(text):
        if tree.has(match.group(1)) and not tree.has_anchor(*match.groups()):
            yield match.start(), "%s has no heading #%s" % match.groups()
    if not name.endswith(".md"):
        return
    for match in LINK.finditer(text):
        target, _, anchor = match.group(1).partition("#")
        if "://" in target:
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
        if not (tree.root / path).exists():
            yield match.start(), "there is no %s" % path
        elif anchor and not tree.has_anchor(path, anchor):
            yield match.start(), "%s has no heading #%s" % (path, anchor)


def faults_in(tree, name):
    for line, text in prose_of(name, tree.read(name)):
        found = [*section_faults(tree, text), *path_faults(tree, name, text),
                 *anchor_faults(tree, name, text)]
        found += function_faults(tree, text) if name.endswith(".md") else section_without_document(text)
        for at, fault in sorted(found):
            yield "%s:%d: %s" % (name, line + text.count("\n", 0, at), fault)


def main():
    names = sys.stdin.read().splitlines()
    tree = Tree(Path(sys.argv[1]), set(names))
    faults = [fault for name in names if name.endswith(TEXTS) and not name.startswith(NOT_READ)
              for fault in faults_in(tree, name)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
