"""The table of a corpus: which sources are its programs, and what each is expected to do.

A table is text, one row a line; `#` starts a comment, words that hold a blank stand in quotes.

    sources GLOB...                the programs' sources, below the corpus (default: **/*.cu)
    program TEMPLATE               the program of a source, below --programs (default: {folder}/{name})
    arguments WORD...              what every program is given
    LABEL GLOB... [KEY=VALUE...]   the first row that fits a source says what is expected of it

LABEL is race, clean, divergence, error (a memory error) or skip; a source that no row fits has no label. Keys:

    text=REGEX        fits only sources in which this is found (^ and $ are a line's)
    lines=12,14       each race has a place on one of these lines of the source
    ours=LABEL        what the program does, where we looked and the label is not right; why= says why
    why=TEXT          printed beside the program where it is not right, and why a program is skipped
    arguments=TEXT    instead of the general ones

{corpus} is the corpus, {folder} and {name} the source's folder in it and its name without suffix, {parent}
the folder's own name.
"""
import dataclasses
import fnmatch
import re
import shlex

LABELS = ("race", "clean", "divergence", "error", "skip")
KEYS = ("text", "lines", "ours", "why", "arguments")


class TableError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Row:
    label: str
    globs: tuple
    keys: dict

    def fits(self, name, text):
        return any(fnmatch.fnmatchcase(name, glob) for glob in self.globs) and (
            "text" not in self.keys or re.search(self.keys["text"], text, re.MULTILINE) is not None)


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What the corpus says of a program, and what we say where that is wrong."""
    label: str = ""
    ours: str = ""
    lines: frozenset = frozenset()
    why: str = ""
    arguments: tuple = None


@dataclasses.dataclass
class Table:
    sources: tuple = ("**/*.cu",)
    program: str = "{folder}/{name}"
    arguments: tuple = ()
    rows: list = dataclasses.field(default_factory=list)

    def expectation(self, name, text):
        row = next((row for row in self.rows if row.fits(name, text)), None)
        if row is None:
            return Expectation()
        keys = row.keys
        return Expectation(
            label=row.label, ours=keys.get("ours", ""), why=keys.get("why", ""),
            lines=frozenset(int(line) for line in keys["lines"].split(",")) if "lines" in keys else frozenset(),
            arguments=tuple(shlex.split(keys["arguments"])) if "arguments" in keys else None)


def read_row(words):
    label, *rest = words
    if label not in LABELS:
        raise TableError("%r is no label: %s" % (label, ", ".join(LABELS)))
    pairs = [word.split("=", 1) for word in rest if re.match(r"(%s)=" % "|".join(KEYS), word)]
    globs = tuple(word for word in rest if not re.match(r"(%s)=" % "|".join(KEYS), word))
    if not globs:
        raise TableError("a row needs a pattern of names")
    keys = dict(pairs)
    if keys.get("ours", "race") not in LABELS:
        raise TableError("%r is no label" % keys["ours"])
    if "ours" in keys and "why" not in keys:
        raise TableError("ours= needs why=")
    if not re.fullmatch(r"(\d+(,\d+)*)?", keys.get("lines", "")):
        raise TableError("lines= wants numbers, with commas between")
    return Row(label, globs, keys)


def read_table(text, file):
    table, sources = Table(), []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "sources":
                sources += words[1:]
            elif words[0] == "program":
                table.program, = words[1:]
            elif words[0] == "arguments":
                table.arguments = tuple(words[1:])
            else:
                table.rows.append(read_row(words))
        except (TableError, ValueError, re.error) as error:
            raise TableError("%s:%d: %s" % (file, number, error)) from error
    table.sources = tuple(sources) or table.sources
    return table
