"""Each mutation of tools/mutate_*.sh still changes its file, and docs/MUTATIONS.md has a row for the detector's
and for those of the weak memory of the emulated device.

Whether the tests catch it takes a build for each, hours in all: tools/nightly.sh.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def read_lists(script):
    """The lists of mutations of a script: of each name, file and sed expression."""
    text = (ROOT / "tools" / script).read_text(encoding="utf-8")
    lists = re.findall(r"<<'LIST'\n(.*?)\nLIST\n", text, re.S)
    return [[line.split("|", 2) for line in rows.splitlines()] for rows in lists]


(DETECTOR,) = read_lists("mutate_detector.sh")
(REWRITER,) = read_lists("mutate_rewriter.sh")
(WEAK,) = read_lists("mutate_weak.sh")
(OF_MODEL,) = read_lists("mutate_weak_memory.sh")
OF_SESSION, OF_CODE, OF_LOGGER = read_lists("mutate_filter.sh")


class Mutations(unittest.TestCase):
    def expect_each_applies(self, mutations, folder, least):
        self.assertGreater(len(mutations), least)
        for name, file, expression in mutations:
            with self.subTest(name):
                source = ROOT / folder / file
                changed = subprocess.run(["sed", expression, source], capture_output=True, check=True).stdout
                self.assertTrue(changed != source.read_bytes(), "%s: %s changes nothing" % (file, expression))

    def test_each_applies(self):
        self.expect_each_applies(DETECTOR, "host_detector", 100)
        self.expect_each_applies(REWRITER, "ptx", 25)
        self.expect_each_applies(WEAK, "emulator", 20)
        self.expect_each_applies(OF_SESSION, "session", 20)
        self.expect_each_applies(OF_CODE, "ptx", 10)
        self.expect_each_applies(OF_LOGGER, "device_logger", 4)
        self.expect_each_applies(OF_MODEL, "weak_memory", 4)

    def test_each_has_its_row(self):
        document = (ROOT / "docs/MUTATIONS.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|", document, re.M)
        mutations = {(name, file) for name, file, _ in DETECTOR + WEAK}
        self.assertEqual((mutations - set(rows), set(rows) - mutations), (set(), set()))


if __name__ == "__main__":
    unittest.main()
