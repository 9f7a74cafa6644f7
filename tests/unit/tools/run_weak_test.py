"""run_weak.py tells a failure from an outcome that needs no delays, compares verdicts and writes marks."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "litmus_suite"))
import run_weak  # noqa: E402

RACE = frozenset({("race", "('p.cu', 3)", "('p.cu', 5)")})
OTHER = frozenset({("race", "('p.cu', 3)", "('p.cu', 7)")})


def run(way, outcome="x 1", findings=frozenset(), starves=False, seed=1):
    return run_weak.Run(way, seed, outcome, findings, starves)


def program(expectation, mark="never", variant="", source="p.cu"):
    return run_weak.Program("p", source, variant, "p", expectation.split(), mark)


class RunWeak(unittest.TestCase):
    def test_an_outcome_that_a_schedule_explains_is_no_failure(self):
        runs = [run(run_weak.PLAIN, "x 1"), run(run_weak.PLAIN, "x 2"), run("p=1", "x 2")]
        self.assertEqual(run_weak.seen(runs), "never")

    def test_an_outcome_that_only_delays_show_is_one(self):
        runs = [run(run_weak.PLAIN, "x 1"), run("p=1", "x 3"), run("stale", "x 1", starves=True)]
        self.assertEqual(run_weak.seen(runs), "fails")
        self.assertEqual(run_weak.row_of(program("race"), runs), ["p", "race", "fails", "1", "0", "1"])

    def test_starving_counts_where_nothing_fails(self):
        self.assertEqual(run_weak.seen([run(run_weak.PLAIN), run("p=1", starves=True)]), "starves")

    def test_a_program_without_races_has_none_on_each_run_and_does_not_fail(self):
        runs = [run(run_weak.PLAIN), run("p=1", "x 0", RACE, seed=4)]
        problems = run_weak.problems_of(program("none", "fails"), runs, False)
        self.assertEqual(len(problems), 2)
        self.assertIn("p=1, seed 4", problems[0])
        self.assertIn("has no race", problems[1])

    def test_a_racy_program_has_the_same_pairs_over_all_seeds(self):
        runs = [run(run_weak.PLAIN, findings=RACE), run(run_weak.PLAIN, findings=OTHER),
                run("p=1", findings=RACE | OTHER), run("stale")]
        self.assertEqual(run_weak.problems_of(program("race"), runs, False), [])
        problems = run_weak.problems_of(program("race"), runs[1:], False)
        self.assertEqual([problem.split(":")[0] for problem in problems], ["only with delays"])
        problems = run_weak.problems_of(program("race"), runs[:2] + runs[3:], False)
        self.assertEqual([problem.split(":")[0] for problem in problems], ["only without delays"])

    def test_a_run_that_failed_may_have_more_pairs(self):
        runs = [run(run_weak.PLAIN, findings=RACE), run("p=1", "x 0", RACE | OTHER)]
        self.assertEqual(run_weak.verdict_problems(program("race"), runs), [])

    def test_a_mark_that_is_wrong(self):
        self.assertEqual(run_weak.problems_of(program("race", "fails"), [run("p=1")] + [run(run_weak.PLAIN)], False),
                         ["never, and its source says fails"])

    def test_marks_are_written_behind_the_expectation_and_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "p.cu"
            source.write_text("// What.\n// expect: race\n// variant one: -DA=0\n// expect one: race\ncode\n",
                              encoding="utf-8")
            run_weak.write_mark(program("race", source=str(source)), "never")
            run_weak.write_mark(program("race", source=str(source), variant="one"), "fails")
            run_weak.write_mark(program("race", source=str(source)), "starves")
            self.assertEqual(source.read_text(encoding="utf-8"),
                             "// What.\n// expect: race\n// weak: starves\n// variant one: -DA=0\n"
                             "// expect one: race\n// weak one: fails\ncode\n")
            self.assertEqual(run_weak.runner.read_note(str(source), "weak one"), ["fails"])


if __name__ == "__main__":
    unittest.main()
