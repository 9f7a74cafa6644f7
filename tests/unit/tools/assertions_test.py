"""The assertions: how many there are at least, and that each folder has a test that breaks one on purpose."""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from lint_layering import MAY_INCLUDE  # pylint: disable=wrong-import-position

LEAST = 300
# It runs on the GPU, where nothing can be asserted: its layouts are, by static_assert.
WITHOUT_TEST = {"device_logger"}


def counts():
    """By folder: ASSERT, DEBUG_ASSERT and static_assert."""
    table = subprocess.run([ROOT / "tools/count_assertions.sh"], text=True, capture_output=True, check=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[0]: [int(cell) for cell in row[1:4]] for row in rows}


class Assertions(unittest.TestCase):
    def test_there_are_enough_and_every_folder_is_counted(self):
        found = counts()
        total = found.pop("all")
        print("assertions:", total, "in", len(found), "folders")
        self.assertEqual(set(found), set(MAY_INCLUDE))
        self.assertEqual(total, [sum(column) for column in zip(*found.values())])
        self.assertGreaterEqual(sum(total), LEAST)

    def test_each_folder_has_a_test_that_breaks_one(self):
        for folder, (asserted, _, static) in counts().items():
            if folder in WITHOUT_TEST | {"all"}:
                continue
            with self.subTest(folder):
                self.assertGreater(asserted + static, 0)
                tests = [path for path in (ROOT / "tests/unit" / folder).rglob("*_test.cpp")
                         if "assertion_failed" in (text := path.read_text(encoding="utf-8"))
                         or "failed_assertion(" in text]
                self.assertTrue(tests, "no test of %s uses tests/unit/failed_assertion.h" % folder)


if __name__ == "__main__":
    unittest.main()
