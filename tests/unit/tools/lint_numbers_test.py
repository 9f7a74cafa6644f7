"""The lint of numbers finds a number, a row and a program that are wrong, in a copy of the tree."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LINT = ROOT / "tools" / "lint_numbers.py"
FOLDERS = ("docs", "litmus_suite", "benchmarks/programs")


class NumbersLint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        for folder in FOLDERS:
            shutil.copytree(ROOT / folder, self.root / folder)
        shutil.copy(ROOT / "README.md", self.root)

    def tearDown(self):
        self.folder.cleanup()

    def faults(self):
        result = subprocess.run([sys.executable, LINT, self.root], text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, 1 if result.stdout else 0, result.stderr)
        return result.stdout.splitlines()

    def replace(self, document, old, new):
        path = self.root / document
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_the_documents_are_right(self):
        self.assertEqual(self.faults(), [])

    def test_a_program_more(self):
        shutil.copy(self.root / "litmus_suite/modern/latch.cu", self.root / "litmus_suite/modern/latch_twice.cu")
        faults = self.faults()
        self.assertTrue(any(fault.startswith("README.md:") and "programs of the suite" in fault for fault in faults))
        self.assertIn("docs/SUITE.md: latch_twice: the table has 'no row', the program 'none'", faults)

    def test_a_program_that_expects_something_else(self):
        self.replace("litmus_suite/modern/latch.cu", "// expect: none", "// expect: race")
        self.assertEqual(self.faults(), ["docs/SUITE.md: latch: the table has 'none', the program 'race'"])

    def test_a_wrong_figure_in_the_readme(self):
        self.replace("README.md", "slows kernels down 11.1 times", "slows kernels down 9.1 times")
        [fault] = self.faults()
        self.assertRegex(fault, r"^README.md:\d+: 9.1, but docs/MEASUREMENTS.md:\d+: 11.1$")

    def test_a_row_that_changes_the_mean(self):
        self.replace("docs/MEASUREMENTS.md", "| 0.131 | 32 x |", "| 0.131 | 3200 x |")
        self.assertTrue(any("kernel time, ours: 28, but there are" in fault for fault in self.faults()))

    def test_a_row_of_no_program(self):
        self.replace("docs/MEASUREMENTS.md", "| hotspot (2048) |", "| hotspots (2048) |")
        self.assertEqual(self.faults(), ["docs/MEASUREMENTS.md: there is no program hotspots in benchmarks/programs"])

    def test_a_file_that_the_walk_names_twice(self):
        self.replace("docs/ARCHITECTURE.md", "| `ptx/link.cpp` |", "| `ptx/parse.cpp` |")
        self.assertIn("docs/ARCHITECTURE.md: the walk names ptx/parse.cpp 2 times", self.faults())

    def test_a_kind_of_finding_without_a_heading(self):
        self.replace("docs/FINDINGS.md", "## deadlock", "## dead lock")
        self.assertEqual(self.faults(), ["docs/FINDINGS.md: has no heading '## deadlock'"])

    def test_a_score_that_is_another_where_it_was_measured(self):
        self.replace("docs/SUITE.md", "it finds 7 of the 32 races", "it finds 8 of the 32 races")
        self.assertRegex("".join(self.faults()), r"^docs/COMPARISON.md:\d+: 7, but docs/SUITE.md:\d+: 8$")

    def test_a_sentence_that_is_gone(self):
        self.replace("docs/MEASUREMENTS.md", "below racecheck's on", "under racecheck's on")
        self.assertTrue(all("docs/MEASUREMENTS.md: says nothing like" in fault for fault in self.faults()))
        self.assertEqual(len(self.faults()), 2)


if __name__ == "__main__":
    unittest.main()
