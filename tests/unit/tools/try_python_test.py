"""try_python.py judges a run by its findings, however their text is laid out."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import try_python  # noqa: E402

PROGRAM = next(program for program in try_python.PROGRAMS if program.name == "block_sum")
LINE = min(try_python.racy_lines(PROGRAM))


def summary(instrumented=1):
    return {"type": "summary", "kernels": {"program": {"launched": 1, "instrumented": instrumented}},
            "program_coverage": "complete", "not_covered": []}


def race(line=LINE, launched_from="block_sum at /a/kernels.py:48"):
    access = {"file": "kernels.py", "line": line, "launch": 1, "launched_from": launched_from}
    copy = {"file": "kernels.py", "line": LINE, "launch": None, "launched_from": None}
    return {"type": "race", "accesses": [access, copy]}


class TryPython(unittest.TestCase):
    def faults(self, status, *findings, output="ok\n", folded="launched\n      from block_sum at kernels.py:48"):
        ended = subprocess.CompletedProcess([], status, stdout=output, stderr=folded)
        return list(try_python.faults(PROGRAM, status == 66, ended, list(findings)))

    def test_a_race_at_its_lines_is_right_where_its_text_is_folded(self):
        self.assertEqual(self.faults(66, race(), summary()), [])

    def test_a_race_elsewhere_or_without_a_launch_is_wrong(self):
        self.assertEqual(self.faults(66, race(line=1), summary()), ["a race at kernels.py:1"])
        for place in (None, "", "launcher at other.py:48"):
            self.assertEqual(self.faults(66, race(launched_from=place), summary()), ["the launch has no place in the program"])

    def test_a_twin_without_a_race_is_right_if_its_result_is(self):
        self.assertEqual(self.faults(0, summary()), [])
        self.assertEqual(self.faults(0, summary(), output="WRONG\n"), ["a wrong result"])
        self.assertEqual(self.faults(0, race(), summary()), ["1 races"])

    def test_a_kernel_that_was_not_checked_is_wrong(self):
        self.assertEqual(self.faults(0, summary(instrumented=0)), ["0 of the program's 1 kernels instrumented"])


if __name__ == "__main__":
    unittest.main()
