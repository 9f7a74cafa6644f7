#!/usr/bin/env python3
"""Prints which of a target's sources may be compiled as one (cmake/Modules.cmake, BARRACUDA_UNITE): a line
"GROUP SOURCE" for each, a CMake list. Most of what a source costs to compile are its headers, so a group of ten costs
little more than one of them. Sources whose names look as if they clashed go into different groups, and one whose hidden
names are those of a header too goes into none.
Usage: tools/unite_sources.py FOLDER SOURCE...
"""

import sys
from pathlib import Path

from tidy_units import names_in, stands_alone, unit_for

MOST_FILES = 10


def main():
    folder = Path(sys.argv[1]).resolve()
    units = []
    for source in sys.argv[2:]:
        path = folder / source
        if path.suffix != ".cpp" or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        names = names_in(text)
        if not stands_alone(folder, text, names):
            unit_for(names, units, MOST_FILES).add(source, text, names)
    print(";".join(f"{number} {source}" for number, unit in enumerate(units) for source in unit.files), end="")


if __name__ == "__main__":
    main()
