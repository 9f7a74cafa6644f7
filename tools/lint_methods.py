#!/usr/bin/env python3
"""No class has more than 30 methods: who has, has more than one duty. Reads file names from standard input.

Counts by name what a class body declares, without what is defaulted or deleted; overloads are one. With --print N, prints
the N largest instead. It reads text, not C++: macros that make methods are not seen.
"""

import re
import sys
from pathlib import Path

MOST = 30
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
                     r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?([\w:]+)(?:<[^;{}]*>)?"
                   r"\s*(?:final\s*)?(?::[^;{}()]*)?$")
NAMESPACE = re.compile(r"\bnamespace\b[\w:\s]*$|\bextern\s*$")
MEMBER_INITIALISER = re.compile(r"\)\s*(?:noexcept\s*)?:[^:].*[\w>]\s*$", re.S)  # before its brace
ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:")


def without_template(head):
    while head.startswith("template"):
        depth = 0
        for index, letter in enumerate(head):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                break
        head = head[index + 1:].strip()
    return head


def method_in(head):
    """The name of the method that a member's declaration declares, or None."""
    head = without_template(re.sub(r"\[\[.*?\]\]", "", ACCESS.sub("", head)).strip())
    if not head or re.match(r"(using|friend|static_assert|typedef|enum|class|struct)\b", head):
        return None
    if re.search(r"=\s*(delete|default)\s*$", head):
        return None
    operator = re.search(r"\boperator\s*(\(\)|[^\s(]+|\w+)\s*\(", head)
    if operator:
        return "operator " + operator[1]
    depth = 0
    for index, letter in enumerate(head):
        depth += (letter == "<") - (letter == ">")
        if letter in "={" and depth == 0:
            return None
        if letter == "(" and depth == 0 and not head[:index].rstrip().endswith("alignas"):
            name = re.search(r"(~?\w+)\s*$", head[:index])
            return name[1] if name else None
    return None


def classes(text):
    """Pairs of a class's name and the set of its methods' names."""
    text = NO_CODE.sub(" ", text)
    scopes, found = [], []  # open namespaces (None) and classes (name, methods)
    head, parentheses, skipped = "", 0, 0
    for letter in text:
        if skipped:  # the body of a function, or an initialiser
            skipped += (letter == "{") - (letter == "}")
            if not skipped and MEMBER_INITIALISER.search(head):
                head += "()"
            elif not skipped and not parentheses:
                name = method_in(head) if scopes and scopes[-1] else None
                if name:
                    scopes[-1][1].add(name)
                if name or not (scopes and scopes[-1]):
                    head = ""
            continue
        parentheses = max(0, parentheses + (letter == "(") - (letter == ")"))
        if letter == "{":
            opened = CLASS.search(head.strip()) if not parentheses and "enum" not in head.split() else None
            if opened:
                scopes.append((opened[1], set()))
                head = ""
            elif not parentheses and NAMESPACE.search(head.strip()):
                scopes.append(None)
                head = ""
            else:
                skipped = 1
        elif letter == "}" and not parentheses:
            closed = scopes.pop() if scopes else None
            if closed:
                found.append(closed)
            head = ""
        elif letter == ";" and not parentheses:
            name = method_in(head) if scopes and scopes[-1] else None
            if name:
                scopes[-1][1].add(name)
            head = ""
        else:
            head += letter
    return found


def main():
    sources = [source for source in sys.stdin.read().split()
               if not source.startswith("tests/") and source.endswith((".h", ".cpp", ".cuh"))]
    sizes = sorted(((len(methods), source + ": " + name) for source in sources
                    for name, methods in classes(Path(source).read_text(encoding="utf-8"))), reverse=True)
    if sys.argv[1:2] == ["--print"]:
        for size in sizes[:int(sys.argv[2])]:
            print(*size)
        return 0
    faults = ["%s has %d methods: divide it by duty" % (name, count) for count, name in sizes if count > MOST]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
