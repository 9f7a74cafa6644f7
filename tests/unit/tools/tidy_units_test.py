"""Sources that clang-tidy reads as one: findings have the places of the sources, also where a unit does not compile."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"
FINDING = "int* {}() {{ return 0; }}\n"  # modernize-use-nullptr


@unittest.skipUnless(shutil.which("clang-tidy-19"), "clang-tidy-19 is not installed")
class TidyUnits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        for name in ("build", "tools", "part"):
            (self.root / name).mkdir()
        for name in ("tidy_units.py", "tidy_seen.py"):
            shutil.copy(TOOLS / name, self.root / "tools")
        self.write(".clang-tidy", "Checks: -*,modernize-use-nullptr\nWarningsAsErrors: '*'\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def found(self, **sources):
        """What clang-tidy says of sources that are compiled alike, as "FILE:LINE", and in how many units."""
        entries = []
        for name, text in sources.items():
            self.write(f"part/{name}.cpp", text)
            entries.append({"directory": str(self.root / "build"), "file": str(self.root / f"part/{name}.cpp"),
                            "command": f"g++ -std=c++20 -I{self.root} -o {name}.o -c {self.root}/part/{name}.cpp"})
        self.write("build/compile_commands.json", json.dumps(entries))
        result = subprocess.run([sys.executable, self.root / "tools/tidy_units.py"], check=False, text=True,
                                env=dict(os.environ, XDG_CACHE_HOME=str(self.root / "cache")), capture_output=True,
                                input="".join(f"- part/{name}.cpp\n" for name in sources))
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        places = sorted(line.split(": error: ")[0].rsplit(":", 1)[0] for line in lines if ": error: " in line)
        self.assertEqual(result.returncode, 1 if places else 0, result.stdout)
        return places, lines[-1].split("checked in ")[1].split(" units")[0]

    def test_a_finding_has_its_place_in_its_source(self):
        self.assertEqual(self.found(a="int one();\n", b="\n" + FINDING.format("two")), (["part/b.cpp:2"], "1"))

    def test_what_does_not_compile_as_one_is_read_in_parts(self):
        sources = {name: "int same = 1;\n" + (FINDING.format(name) if name == "c" else "") for name in "abcd"}
        self.assertEqual(self.found(**sources), (["part/c.cpp:2"], "1"))

    def test_hidden_names_that_clash_part_units(self):
        text = "namespace {{\nint hidden = 1;\n}}  // namespace\nint {}() {{ return hidden; }}\n"
        self.assertEqual(self.found(a=text.format("a"), b=text.format("b")), ([], "2"))

    def test_a_name_of_a_header_that_a_source_hides_stands_alone(self):
        self.write("part/names.h", "using Json = int;\n")
        hides = "namespace {\nusing Json = long;\n}  // namespace\nJson b() { return 1; }\n"
        self.assertEqual(self.found(a='#include "part/names.h"\nJson a() { return 1; }\n', b=hides), ([], "2"))


if __name__ == "__main__":
    unittest.main()
