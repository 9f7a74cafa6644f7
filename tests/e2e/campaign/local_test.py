"""Campaigns on this machine: what is lost, repeated and counted when tasks and runners die."""

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path

from trial import (BARRACUDA, PROGRAMS, ROOT, TESTS, CampaignTest, barracuda, is_under_way, kill_command,
                   lines_of, slow_line, wait_until, write_lines, write_mixed)

FEW = TESTS[:6]


class LocalCampaign(CampaignTest):
    def test_the_result_is_that_of_one_explore(self):
        self.assert_ran(barracuda("campaign", "write", self.folder, "--tasks", "5", "--", "explore", "--memory-model", "ptx",
                                  *TESTS), 0)
        self.assertEqual(len(lines_of(self.folder / "tasks.jsonl")), 5)
        done = barracuda("campaign", "run", self.folder)
        self.assert_ran(done, 0)
        one = self.scratch / "one.jsonl"
        self.assert_ran(barracuda("explore", "--memory-model", "ptx", "--json", one, *TESTS), 0)
        lines, last = self.result(self.folder, 0)
        self.assertEqual(lines, lines_of(one))
        self.assertEqual((last["tasks"], last["answered"], last["died"]), (5, 5, []))
        self.assertIn("BARRACUDA SUMMARY: 5 of 5 tasks answered, ", done.stderr)
        # Nothing is left to do, and nothing is done.
        self.assert_ran(barracuda("campaign", "run", self.folder), 0)
        self.assertEqual(len(list((self.folder / "attempts").iterdir())), 5)

    def test_the_status_is_that_of_one_explore(self):
        absent = self.scratch / "absent.litmus"
        for words, status in ((["--expect", "1", *FEW], 66), ([absent, *FEW], 64), (["--states", "1", FEW[0]], 67)):
            with self.subTest(words=words):
                folder = self.scratch / str(status)
                self.assert_ran(barracuda("explore", *words), status)
                self.assert_ran(barracuda("campaign", "write", folder, "--", "explore", *words), 0)
                self.assert_ran(barracuda("campaign", "run", folder), status)
                self.result(folder, status)

    def test_a_task_that_dies_is_repeated_and_named(self):
        self.assert_ran(write_mixed(self.folder, 2, tests=FEW), 0)
        run = self.start("--jobs", "2")
        kill_command(self.folder, 2)
        _, said = run.communicate()
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("task 2 died: attempt 1 on %s, ended by SIGKILL; it was repeated" % os.uname().nodename, said)
        self.assert_once(self.folder)
        lines, last = self.result(self.folder, 0)
        self.assertEqual([(death["task"], death["attempt"]) for death in last["died"]], [(2, 1)])
        self.assertEqual(sum('"type":"litmus-result"' in line for line in lines), len(FEW))

    def test_what_always_dies_is_given_up_and_named(self):
        killer = self.scratch / "killer.sh"  # of the barracuda that runs it: the child of attempt.py
        killer.write_text("""process=$$
while parent=$(cut -d' ' -f4 /proc/$process/stat) && ! grep -q python /proc/$parent/comm; do process=$parent; done
kill -9 $process
""", encoding="utf-8")
        self.assert_ran(write_lines(self.folder, ["expose -- sh %s" % killer, "explore %s" % FEW[0]]), 0)
        done = barracuda("campaign", "run", self.folder, "--retries", "1")
        self.assert_ran(done, 67)
        self.assertIn("BARRACUDA: task 1 is given up: barracuda expose -- sh ", done.stderr)
        self.assertRegex(done.stderr, "BARRACUDA SUMMARY: 1 of 2 tasks answered, 1 given up, 2 deaths, .*incomplete\n")
        _, last = self.result(self.folder, 67)
        self.assertEqual((last["given_up"], last["missing"], len(last["died"])), ([1], [], 2))

    def test_a_runner_that_is_killed_is_gone_on_from(self):
        self.assert_ran(write_mixed(self.folder, 3, tests=FEW), 0)
        run = self.start("--jobs", "1")
        wait_until(lambda: (self.folder / "results/1.jsonl").exists() and is_under_way(self.folder, 2), "no progress")
        first = (self.folder / "results/1.jsonl").read_bytes()
        self.assert_ran(barracuda("campaign", "run", self.folder), 64)  # it is being run
        run.kill()
        run.wait()
        # The attempt at task 2 ends by itself, for nobody waits for it.
        wait_until(lambda: (self.folder / "attempts/2.1/ended.json").exists(), "an attempt outlives its runner")
        done = barracuda("campaign", "result", self.folder)
        self.assert_ran(done, 67)
        self.assertIn("incomplete", done.stderr)
        self.assert_ran(barracuda("campaign", "run", self.folder, "--jobs", "2"), 0)
        self.assert_once(self.folder)
        self.assertEqual((self.folder / "results/1.jsonl").read_bytes(), first)
        self.assertFalse((self.folder / "attempts/1.2").exists())
        self.assertEqual(self.result(self.folder, 0)[1]["died"], [])

    def test_an_interruption_ends_with_what_is_known(self):
        self.assert_ran(write_mixed(self.folder, 2, tests=FEW[:1]), 0)
        run = self.start("--jobs", "1")
        wait_until(lambda: is_under_way(self.folder, 1), "no progress")
        os.kill(run.pid, signal.SIGINT)
        _, said = run.communicate()
        self.assertEqual(run.returncode, 67, said)
        self.assertIn("interrupted by SIGINT; barracuda campaign run ", said)
        self.assertEqual(list((self.folder / "results").iterdir()), [])
        status = barracuda("campaign", "status", self.folder)
        self.assertIn("0 of 3 tasks have a result", status.stdout)
        self.assert_ran(barracuda("campaign", "run", self.folder), 0)
        self.assert_once(self.folder)

    def test_of_two_attempts_at_once_one_counts(self):
        self.assert_ran(write_lines(self.folder, [slow_line(0.2, 1)]), 0)
        words = ["python3", "-B", ROOT / "campaign/attempt.py", BARRACUDA, self.folder, "1"]
        both = [subprocess.Popen(words) for _ in range(2)]
        self.assertEqual([each.wait() for each in both], [0, 0])
        self.assert_once(self.folder)
        reasons = sorted(str(json.loads((self.folder / "attempts" / name / "ended.json").read_text())["reason"])
                         for name in ("1.1", "1.2"))
        self.assertEqual(reasons, ["None", "another attempt was first"])

    def test_a_missing_fence_that_several_tasks_find_is_one(self):
        self.assert_ran(barracuda("campaign", "write", self.folder, "--tasks", "2", "--", "expose", "--runs", "8",
                                  PROGRAMS / "handover_race"), 0)
        done = barracuda("campaign", "run", self.folder)
        self.assert_ran(done, 66)
        lines, last = self.result(self.folder, 66)
        types = [json.loads(line)["type"] for line in lines]
        for each, number in (("weak-memory-failure", 1), ("missing-fence", 1), ("race", 2), ("race-effect", 2),
                             ("summary", 1)):
            self.assertEqual(types.count(each), number, each)
        [failure] = [json.loads(line) for line in lines if '"type":"weak-memory-failure"' in line]
        self.assertEqual((failure["runs"], failure["reference_runs"]), (40, 10))
        self.assertTrue(Path(failure["plan"]).exists())
        again = barracuda("run", "--device", "cpu", "--weakness", failure["plan"], "--", PROGRAMS / "handover_race")
        self.assertIn("result 1\n", again.stdout)
        self.assertEqual(last["status"], 66)
        self.assertIn("1 weak-memory failure, 1 missing fence, 2 races", done.stderr)

    def test_progress_has_an_estimate(self):
        self.assert_ran(write_lines(self.folder, [slow_line(1, each + 1) for each in range(4)]), 0)
        done = barracuda("campaign", "run", self.folder, "--jobs", "1")
        self.assert_ran(done, 0)
        self.assertRegex(done.stderr, r"barracuda: [0-3] of 4 tasks, 1 under way, (no estimate yet|about \d+ s left)\n")
        self.assertRegex(done.stderr, r"barracuda: [1-3] of 4 tasks, 1 under way, about \d+ s left\n")

    def test_what_is_wrong_is_said_in_one_sentence(self):
        self.assert_ran(write_lines(self.folder, ["explore %s" % FEW[0]]), 0)
        for words in (["result", self.scratch], ["run", self.folder, "--jobs", "0"],
                      ["run", self.folder, "--runner", "dask"], ["run", self.folder, "--scheduler", "tcp://here:1"],
                      ["run", self.folder, "--sbatch=--partition=x"], ["run"], ["stop", self.folder],
                      ["write", self.folder, "--", "explore", FEW[0]], ["write", self.scratch / "a"],
                      ["write", self.scratch / "a", "--", "run", "./app"],
                      ["write", self.scratch / "a", "--", "explore", "--json", "x", FEW[0]]):
            with self.subTest(words=words):
                done = barracuda("campaign", *words)
                self.assert_ran(done, 64)
                self.assertRegex(done.stderr, r"\Abarracuda: [^\n]+\n\Z")
        (self.folder / "campaign.json").write_text("{")
        self.assert_ran(barracuda("campaign", "run", self.folder), 64)


if __name__ == "__main__":
    unittest.main()
