"""run_root_causes.py tells a fence at its place from one elsewhere, and none from too many."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks/weak"))
import run_root_causes as table  # noqa: E402


def build(fence="acq_rel gpu", groups=({5, 6},)):
    return table.Build("p_v", "p.cu", "F", fence, [], list(groups))


def answer(*fences, failure="output", runs=100, is_incomplete=False):
    return table.Answer(failure, [table.Fence(line, "x", kind, scope) for line, kind, scope in fences], runs, 1,
                        is_incomplete)


class RunRootCauses(unittest.TestCase):
    def test_a_fence_at_its_place_is_right(self):
        self.assertEqual(table.problems_of(build(), answer((6, "acq_rel", "gpu"))), [])
        self.assertEqual(table.problems_of(build(), answer((5, "acq_rel", "gpu"), (6, "acq_rel", "gpu"))), [])

    def test_elsewhere_too_strong_or_too_wide_it_is_wrong(self):
        self.assertEqual(len(table.problems_of(build(), answer((7, "acq_rel", "gpu")))), 2)
        self.assertEqual(table.problems_of(build(), answer((6, "acq_rel", "gpu"), (7, "acq_rel", "gpu"))),
                         ["one behind line 7"])
        self.assertEqual(table.problems_of(build(), answer((6, "sc", "gpu"))), ["line 6 is sc gpu"])
        self.assertEqual(table.problems_of(build(), answer((6, "acq_rel", "cta"))), ["line 6 is acq_rel cta"])

    def test_of_several_each_is_needed(self):
        both = build(groups=({5}, {9}))
        self.assertEqual(table.problems_of(both, answer((5, "acq_rel", "gpu"))), ["none behind line 9"])
        self.assertEqual(table.problems_of(both, answer((5, "acq_rel", "gpu"), (9, "acq_rel", "gpu"))), [])

    def test_no_failure_is_wrong_unless_none_is_known(self):
        self.assertEqual(table.problems_of(build(), answer(failure=None)), ["no failure"])
        hidden = build("not shown", ())
        self.assertEqual(table.problems_of(hidden, answer(failure=None)), [])
        self.assertEqual(table.problems_of(hidden, answer((5, "acq_rel", "gpu"))), ["a failure that was not known"])

    def test_too_many_runs_and_an_unfinished_search_are_told(self):
        self.assertEqual(table.problems_of(build(), answer((5, "acq_rel", "gpu"), runs=401)), ["more than 400 runs"])
        self.assertEqual(table.problems_of(build(), answer((5, "acq_rel", "gpu"), is_incomplete=True)),
                         ["incomplete"])

    def test_the_sources_say_a_place_for_each_fence(self):
        builds = {build.name: build for build in table.all_builds()}
        self.assertEqual(len(builds["cub_scan_no_fence"].groups), 3)
        self.assertEqual(builds["cub_scan_no_fence"].flags, ["--stores-only", "--random"])
        self.assertEqual(builds["sdk_red_ticket_fence"].groups, [])
        for name, build in builds.items():
            variants = Path(build.source).read_text(encoding="utf-8")
            variant = name[len(Path(build.source).stem) + 1:]
            self.assertIn("// variant %s:" % variant, variants)


if __name__ == "__main__":
    unittest.main()
