"""Each mutation of tools/mutate_detector.sh still changes its file, and docs/MUTATIONS.md has its row.

Whether the tests catch it takes a build for each, hours in all: tools/nightly.sh.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = (ROOT / "tools/mutate_detector.sh").read_text(encoding="utf-8")
LIST = re.search(r"<<'LIST'\n(.*?)\nLIST\n", SCRIPT, re.S).group(1)


class Mutations(unittest.TestCase):
    def setUp(self):
        self.mutations = [line.split("|", 2) for line in LIST.splitlines()]

    def test_each_applies(self):
        self.assertGreater(len(self.mutations), 100)
        for name, file, expression in self.mutations:
            with self.subTest(name):
                source = ROOT / "host_detector" / file
                changed = subprocess.run(["sed", expression, source], capture_output=True, check=True).stdout
                self.assertTrue(changed != source.read_bytes(), "%s: %s changes nothing" % (file, expression))

    def test_each_has_its_row(self):
        document = (ROOT / "docs/MUTATIONS.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|", document, re.M)
        mutations = {(name, file) for name, file, _ in self.mutations}
        self.assertEqual((mutations - set(rows), set(rows) - mutations), (set(), set()))


if __name__ == "__main__":
    unittest.main()
