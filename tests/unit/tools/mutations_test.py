"""Each mutation of tools/mutate_detector.sh and tools/mutate_rewriter.sh still changes its file, and those of the detector have
their rows in docs/MUTATIONS.md.

Whether the tests catch it takes a build for each, hours in all: tools/nightly.sh.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def mutations(script):
    text = (ROOT / "tools" / script).read_text(encoding="utf-8")
    table = re.search(r"<<'LIST'\n(.*?)\nLIST\n", text, re.S).group(1)
    return [line.split("|", 2) for line in table.splitlines()]


class Mutations(unittest.TestCase):
    def test_each_applies(self):
        for script, folder, count in (("mutate_detector.sh", "host_detector", 100), ("mutate_rewriter.sh", "ptx", 30)):
            self.assertGreater(len(mutations(script)), count)
            for mutation in mutations(script):
                with self.subTest(mutation[0]):
                    self.applies(ROOT / folder / mutation[1], mutation[2])

    def applies(self, source, expression):
        changed = subprocess.run(["sed", expression, source], capture_output=True, check=True).stdout
        self.assertTrue(changed != source.read_bytes(), "%s: %s changes nothing" % (source, expression))

    def test_each_has_its_row(self):
        document = (ROOT / "docs/MUTATIONS.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|", document, re.M)
        listed = {(name, file) for name, file, _ in mutations("mutate_detector.sh")}
        self.assertEqual((listed - set(rows), set(rows) - listed), (set(), set()))


if __name__ == "__main__":
    unittest.main()
