"""What several tasks say of the same thing is one line with the sums of all; the worst status is the campaign's."""

import io
import json
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "campaign"))

from progress import Progress, time_left, time_text  # noqa: E402
from result import merge, what_was_found, worst  # noqa: E402


def place(line):
    return {"function": "f()", "file": "a.cu", "line": line, "inlined": [], "statement": "f#1", "kernel": "f()"}


def failure(**more):
    return {"type": "weak-memory-failure", "failure": "output", "environment": "race 1 of 1", "runs": 20, "failures": 3,
            "reference_runs": 5, "reference_failures": 0, "space": "global", "kernel": "f()",
            "mechanism": "delayed-store", "accesses": {"weak": [{"file": "a.cu", "line": 7, "address": "0x10"}]},
            "missing": None, "fences": [place(7)], "legal_by": "x", "plan": "a", **more}


def fence(kind, line, runs):
    return {"type": kind, "place": place(line), "kind": "acq_rel", "scope": "gpu", "evidence": {"runs": runs}}


def merged(*lines):
    kept, summary = merge(json.dumps(line) + "\n" for line in lines)
    return list(map(json.loads, kept)), summary


class Results(unittest.TestCase):
    def test_one_failure_of_two_tasks(self):
        other = {"weak": [{"file": "a.cu", "line": 7, "address": "0x20"}]}
        [line], _ = merged(failure(), failure(failures=4, accesses=other, plan="b"))
        self.assertEqual((line["runs"], line["failures"], line["reference_runs"], line["plan"]), (40, 7, 10, "a"))

    def test_failures_that_differ_stay_apart(self):
        lines, _ = merged(failure(), failure(fences=[place(8)]), failure(failure="hang"),
                          failure(accesses={"weak": [{"file": "a.cu", "line": 9}]}))
        self.assertEqual(len(lines), 4)

    def test_a_fence_that_one_task_needs_is_not_redundant(self):
        lines, _ = merged(fence("redundant-fence", 7, 3), fence("missing-fence", 7, 4), fence("redundant-fence", 8, 5),
                          fence("missing-fence", 7, 6), fence("redundant-fence", 8, 5))
        self.assertEqual([(line["type"], line["place"]["line"], line["evidence"]["runs"]) for line in lines],
                         [("missing-fence", 7, 10), ("redundant-fence", 8, 10)])

    def test_the_strongest_effect_of_a_race(self):
        effects = [{"type": "race-effect", "fingerprint": "f", "effect": effect, "tries": 2}
                   for effect in ("not-tried", "harmful", "not-shown")]
        [line], _ = merged(*effects)
        self.assertEqual((line["effect"], line["tries"]), ("harmful", 6))

    def test_histograms_of_a_litmus_test_are_added_up(self):
        def seen(verdict, counts, **more):
            return {"type": "litmus-result", "test": "MP", "file": "mp.litmus", "device": "GPU", "condition": "exists (x)",
                    "verdict": verdict, "states": len(counts), "outcomes": [
                        {"registers": {"r": value}, "memory": {}, "count": count, "allowed": True}
                        for value, count in counts.items()], **more}
        [line], _ = merged(seen("does not hold", {0: 5, 1: 2}), seen("holds", {1: 4, 2: 1}))
        self.assertEqual({each["registers"]["r"]: each["count"] for each in line["outcomes"]}, {0: 5, 1: 6, 2: 1})
        self.assertEqual((line["verdict"], line["states"]), ("holds", 3))
        [line], _ = merged(seen("holds", {0: 1}, condition="~exists (x)"), seen("does not hold", {1: 1}, condition="~exists (x)"))
        self.assertEqual(line["verdict"], "does not hold")
        self.assertEqual(len(merged(seen("holds", {0: 1}), seen("holds", {0: 1}, device="other"))[0]), 2)

    def test_lines_of_explore_stay_as_they_are(self):
        text = '{"schema":2, "type":"litmus-result","verdict":"holds"}\n'
        self.assertEqual(merge([text, text]), ([text, text], None))
        self.assertEqual(what_was_found([text, text], None), ["2 verdicts hold"])
        other = text.replace("holds", "does not hold")
        self.assertEqual(what_was_found([text, other], None), ["1 verdict holds", "1 does not hold"])

    def test_the_summary_of_all(self):
        def summary(runs, incomplete, coverage, gaps):
            return {"type": "summary", "races": 1, "coverage": coverage, "not_covered": gaps, "weak_memory": {
                "failures": 1, "missing_fences": 1, "starvations": 0, "runs": runs, "lost": 1,
                "incomplete": incomplete}}
        _, line = merged(failure(), summary(10, False, "complete", []), failure(), summary(20, True, "incomplete", ["a"]))
        self.assertEqual(line["weak_memory"], {"failures": 1, "missing_fences": 0, "starvations": 0, "runs": 30, "lost": 2,
                                               "incomplete": True})
        self.assertEqual((line["races"], line["coverage"], line["not_covered"]), (0, "incomplete", ["a"]))

    def test_the_worst_status_first(self):
        self.assertEqual(worst([]), 0)
        self.assertEqual(worst([0, 67, 66]), 66)
        self.assertEqual(worst([0, 67, 3]), 3)  # error-exitcode=3
        self.assertEqual(worst([66, 127]), 127)
        self.assertEqual(worst([66, 70, 64, 67]), 64)

    def test_the_schema_has_the_campaigns_line(self):
        schema = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
        line = schema["$defs"]["campaign-summary"]
        text = (ROOT / "campaign/result.py").read_text(encoding="utf-8")
        for name in line["required"]:
            self.assertIn('"%s":' % name, text)
        self.assertEqual(set(line["required"]), set(line["properties"]))


class ProgressLines(unittest.TestCase):
    def test_the_estimate(self):
        self.assertIsNone(time_left(0, 10, 5))
        self.assertEqual(time_left(4, 6, 10), 15)
        self.assertEqual([time_text(each) for each in (0.4, 89, 120, 7200)], ["0 s", "89 s", "2 min", "2.0 h"])

    def test_a_line_every_ten_seconds_where_there_is_no_terminal(self):
        to, now = io.StringIO(), [0.0]
        progress = Progress(to, lambda: now[0])
        progress.begin(10, 4)
        for second in range(21):
            now[0] = second
            progress.tell(6 - second // 5, 2, 1)
        self.assertEqual(to.getvalue().splitlines(), [
            "barracuda: 6 of 10 tasks, 2 under way, 1 died, about 20 s left",
            "barracuda: 8 of 10 tasks, 2 under way, 1 died, about 10 s left"])


if __name__ == "__main__":
    unittest.main()
