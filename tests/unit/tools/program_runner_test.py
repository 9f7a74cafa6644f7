"""The runner of CUDA programs judges runs as their sources say."""

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

    def test_places_of_the_host_are_checked(self):
        memset = {"op": "memset", "file": None, "line": None}
        self.assertIn("a race outside the marked lines: once.cu:4 and ?:None",
                      self.judge("x 42 out 0\n", 66, [RACE | {"accesses": [place(4), memset]}, SUMMARY]))


if __name__ == "__main__":
    unittest.main()
