"""The rows of emulator/libcuda.def and emulator/libcudart.def, for the tools that read them."""
import re
from pathlib import Path
from typing import NamedTuple

TREE = Path(__file__).resolve().parent.parent
DRIVER = TREE / "emulator" / "libcuda.def"
RUNTIME = TREE / "emulator" / "libcudart.def"


class Row(NamedTuple):
    name: str
    is_emulated: bool
    numbers: tuple  # of libcuda: since; of libcudart: first and last library


def rows(table):
    """Of each exported name, forms for the per-thread default stream included."""
    for kind, name, numbers in re.findall(r"^([A-Z_]+)\((\w+)((?:, \d+)+)[^()]*\)$", table.read_text(), re.MULTILINE):
        forms = re.findall("_ptsz|_ptds", "_ptds" if kind == "SYNCHRONOUS" else f"_{kind.lower()}")
        for form in ["", *forms]:
            yield Row(name + form, not kind.startswith("MISSING"), tuple(map(int, numbers[2:].split(", "))))
