"""The runner of CUDA programs judges runs as their sources say."""

import re
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
import program_runner as runner  # noqa: E402

SOURCE = """// expect: race inter-block global
// schedule: some
// ordered: out 43
store();  // RACE
load();  // RACE
"""
SUMMARY = {"type": "summary", "coverage": "complete", "not_covered": [], "device": "emulated device"}


def place(line):
    return {"op": "read", "file": "once.cu", "line": line}


RACE = {"type": "race", "kind": "inter-block", "space": "global", "variants": [],
        "missing": "", "accesses": [place(4), place(5)]}


class Judgement(unittest.TestCase):
    def judge(self, output, status, lines, text=SOURCE, key=""):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "once.cu"
            source.write_text(text, encoding="utf-8")
            result = types.SimpleNamespace(stdout=output, stderr="BARRACUDA SUMMARY: ...", returncode=status)
            return runner.judge(result, lines, [str(source)], key)

    def test_a_run_with_the_race_reports_it(self):
        self.assertEqual(self.judge("x 42 out 0\n", 66, [RACE, SUMMARY]), [])
        self.assertIn("no race was reported", self.judge("x 42 out 0\n", 0, [SUMMARY]))

    def test_a_run_without_it_reports_none(self):
        self.assertEqual(self.judge("x 42 out 43\n", 0, [SUMMARY]), [])
        self.assertTrue(self.judge("x 42 out 43\n", 66, [RACE, SUMMARY]))

    def test_by_another_model_either_is_right(self):
        self.assertEqual(self.judge("x 42 out 0\n", 0, [SUMMARY], key="paper"), [])
        self.assertEqual(self.judge("x 42 out 0\n", 66, [RACE, SUMMARY], key="paper"), [])

    def test_what_some_schedules_show_may_be_said_of_one_model(self):
        text = SOURCE.replace("schedule: some", "schedule paper: some")
        self.assertEqual(self.judge("x 42 out 0\n", 0, [SUMMARY], text, key="paper"), [])
        self.assertIn("no race was reported", self.judge("x 42 out 0\n", 0, [SUMMARY], text))

    def test_places_outside_the_marks_are_wrong(self):
        race = RACE | {"accesses": [place(4), place(1)]}
        self.assertTrue(self.judge("x 42 out 0\n", 66, [race, SUMMARY]))

    def test_the_variable_is_one_of_those_that_the_source_names(self):
        for names, location, is_right in (("s[]", "byte 8 of the shared memory of block 0 (s[12])", True),
                                          ("s[]", "byte 8 of the shared memory of block 0 (s)", False),
                                          ("a b", "byte 8 of the shared memory of block 0 (b)", True),
                                          ("a b", "byte 8 of the shared memory of block 0", False),
                                          ("a b", None, False),
                                          ("x[]", "byte 4 of 64 bytes at 0x10 (__device__ variable x[1])", True)):
            race = RACE | {"location": location}
            faults = self.judge("x 42 out 0\n", 66, [race, SUMMARY], "// variable: %s\n" % names + SOURCE)
            self.assertEqual(not any("the location is" in fault for fault in faults), is_right, (names, location))

    def test_the_suite_names_the_variable_of_every_race_on_shared_memory(self):
        for folder in ("suite", "modern", "weak"):
            for source in (Path(__file__).resolve().parents[3] / "litmus_suite" / folder).glob("*.cu"):
                text = source.read_text(encoding="utf-8")
                if re.search(r"^// expect: race .*shared", text, re.M):
                    self.assertRegex(text, r"(?m)^// variable: \w+", source.name)

    def test_places_of_the_host_are_checked(self):
        memset = {"op": "memset", "file": None, "line": None}
        self.assertIn("a race outside the marked lines: once.cu:4 and ?:None",
                      self.judge("x 42 out 0\n", 66, [RACE | {"accesses": [place(4), memset]}, SUMMARY]))


if __name__ == "__main__":
    unittest.main()
