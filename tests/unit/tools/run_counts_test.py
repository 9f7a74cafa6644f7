"""run_counts.py adds up the pieces of a log, and tells places from executions of fences."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks/weak"))
import run_counts  # noqa: E402


class RunCounts(unittest.TestCase):
    def test_the_pieces_of_a_log_are_added_up(self):
        log = ("decision launch=1 kernel=k block=0,0,0 thread=0,0,0 store=1 until=release turns=1\n"
               "drains space=global stores=3 count=17\n"
               "instructions count=100\nstores space=global count=3\nstores space=shared count=5\n"
               "fences at=/a%20b.cu:3 count=32\nfences at=/a.cu:9 count=1\n"
               "instructions count=20\nstores space=shared count=1\nfences at=/a.cu:9 count=2\n")
        self.assertEqual(run_counts.counts_of(log), run_counts.Counts(120, 35, 2, 6, 3))
        self.assertEqual(run_counts.counts_of(""), run_counts.Counts(0, 0, 0, 0, 0))


if __name__ == "__main__":
    unittest.main()
