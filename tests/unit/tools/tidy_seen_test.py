"""What clang-tidy need not read again: nothing that has changed, of the source, its headers, its flags or the checks."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools" / "tidy_seen.py"
NINJA = """rule cxx
  command = g++ -MD -MF $out.d $flags -c $in -o $out
  deps = gcc
  depfile = $out.d
build sum.o: cxx ../sum.cpp
  flags = FLAGS
"""


@unittest.skipUnless(shutil.which("clang-tidy-19"), "clang-tidy-19 is not installed")
class TidySeen(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "build").mkdir()
        (self.root / "tools").mkdir()
        shutil.copy(TOOL, self.root / "tools")
        self.write("sum.cpp", '#include "sum.h"\nint sum(int a, int b) { return a + b; }\n')
        self.write("sum.h", "int sum(int a, int b);\n")
        self.write(".clang-tidy", "Checks: bugprone-*\n")
        self.build("-O1")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def build(self, flags):
        self.write("build/build.ninja", NINJA.replace("FLAGS", flags))
        entry = {"directory": str(self.root / "build"), "file": str(self.root / "sum.cpp"),
                 "command": f"g++ {flags} -o sum.o -c {self.root}/sum.cpp"}
        self.write("build/compile_commands.json", json.dumps([entry]))
        subprocess.run(["ninja", "-C", self.root / "build"], check=True, capture_output=True)

    def tool(self, *arguments, text=None):
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.root / "cache"))
        return subprocess.run([sys.executable, self.root / "tools/tidy_seen.py", *arguments], env=environment,
                              input=text, text=True, capture_output=True, check=True).stdout

    def key(self):
        return self.tool("keys", "sum.cpp").split()[0]

    def test_what_was_remembered_is_not_read_again(self):
        line = self.tool("keys", "sum.cpp")
        self.assertEqual(self.tool("unseen", text=line), line)
        self.tool("remember", line.split()[0])
        self.assertEqual(self.tool("unseen", text=line), "")

    def test_each_change_makes_another_key(self):
        keys = [self.key()]
        self.write("sum.h", "int sum(int a, int b);  // of both\n")
        self.assertEqual(self.key(), "-")  # the build may know other headers by now
        self.build("-O1")
        keys.append(self.key())
        self.build("-O2")
        keys.append(self.key())
        self.write(".clang-tidy", "Checks: modernize-*\n")
        keys.append(self.key())
        self.assertEqual(len(set(keys)), len(keys))
        self.assertNotIn("-", keys)

    def test_the_same_again_has_the_same_key(self):
        first = self.key()
        self.write("sum.h", "int sum(int, int);\n")
        self.build("-O1")
        self.write("sum.h", "int sum(int a, int b);\n")
        self.build("-O1")
        self.assertEqual(self.key(), first)

    def test_a_file_that_is_not_built_is_always_read(self):
        self.write("other.cpp", "int other = 0;\n")
        line = self.tool("keys", "other.cpp")
        self.assertEqual(line, "- other.cpp\n")
        self.tool("remember", "-")
        self.assertEqual(self.tool("unseen", text=line), line)


if __name__ == "__main__":
    unittest.main()
