"""Campaigns by Slurm's job arrays, on a Slurm of one node that this test starts."""

import json
import signal
import subprocess
import tempfile
import unittest

import slurm_cluster
from trial import (TESTS, CampaignTest, barracuda, events_of, is_under_way, kill_command, lines_of, skip,
                   wait_until, write_mixed)

ON_SLURM = ("--runner", "slurm")


class SlurmCampaign(CampaignTest):
    def jobs_of(self, task):
        return [job for event in events_of(self.folder, "submitted") for index, each in enumerate(event["tasks"])
                if each == task for job in ["%s_%d" % (event["job"], index)]]

    def test_all_tests_and_a_command_that_dies(self):
        """More tasks than an array may have (MaxArraySize), so there are several of them; one task is killed in mid-run."""
        self.assert_ran(write_mixed(self.folder, 1), 0)
        run = self.start(*ON_SLURM)
        kill_command(self.folder, 1)
        _, said = run.communicate()
        self.assertEqual(run.returncode, 0, said)
        self.assertRegex(said, r"task 1 died: attempt 1 on \S+, ended by SIGKILL; it was repeated")
        self.assert_once(self.folder)
        self.assert_is_as_on_this_machine(self.folder, 1, TESTS)
        sizes = [len(event["tasks"]) for event in events_of(self.folder, "submitted")]
        whole, rest = divmod(len(TESTS) + 1, slurm_cluster.LARGEST_ARRAY)
        self.assertEqual(sizes, [slurm_cluster.LARGEST_ARRAY] * whole + [rest] * (rest > 0) + [1])

    def test_a_node_that_is_lost(self):
        self.assert_ran(write_mixed(self.folder, 2, seconds=1, tests=TESTS[:3]), 0)
        run = self.start(*ON_SLURM)
        wait_until(lambda: is_under_way(self.folder, 1), "task 1 is not under way")
        node = json.loads(next((self.folder / "attempts").glob("1.1/started.json")).read_text())["host"]
        subprocess.run(["scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=test"], check=True)
        subprocess.run(["scontrol", "update", "NodeName=" + node, "State=RESUME"], check=True)
        _, said = run.communicate()
        self.assertEqual(run.returncode, 0, said)
        self.assertRegex(said, r"task 1 died: attempt 1 on \S+, [^\n]+; it was repeated")
        print("\n".join(line for line in said.splitlines() if "died" in line))
        self.assert_once(self.folder)
        self.assert_is_as_on_this_machine(self.folder, 2, TESTS[:3])

    def test_a_runner_that_is_killed_finds_its_jobs_again(self):
        self.assert_ran(write_mixed(self.folder, 2, seconds=1, tests=TESTS[:3]), 0)
        run = self.start(*ON_SLURM)
        wait_until(lambda: is_under_way(self.folder, 1), "task 1 is not under way")
        run.kill()
        run.wait()
        done = barracuda("campaign", "run", self.folder, *ON_SLURM)
        self.assert_ran(done, 0)
        self.assert_once(self.folder)
        self.assertEqual(len(self.jobs_of(1)), 1)
        self.assertEqual(len(list((self.folder / "attempts").glob("1.*"))), 1)
        self.assertEqual(self.result(self.folder, 0)[1]["died"], [])

    def test_an_interruption_cancels_what_is_queued(self):
        self.assert_ran(write_mixed(self.folder, 2, seconds=1, tests=[]), 0)
        run = self.start(*ON_SLURM, "--jobs", "1")
        wait_until(lambda: is_under_way(self.folder, 1), "task 1 is not under way")
        run.terminate()
        _, said = run.communicate()
        self.assertEqual(run.returncode, 67, said)
        wait_until(lambda: not subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout.strip(),
                   "jobs go on")
        self.assertFalse((self.folder / "attempts/2.1").exists())
        self.assertEqual([line for line in lines_of(self.folder / "events.jsonl") if '"died"' in line], [])

    def test_what_sbatch_refuses_is_said(self):
        self.assert_ran(write_mixed(self.folder, 1, tests=[]), 0)
        done = barracuda("campaign", "run", self.folder, *ON_SLURM, "--sbatch=--partition=absent")
        self.assert_ran(done, 64)
        self.assertIn("barracuda: sbatch: ", done.stderr)


if __name__ == "__main__":
    if slurm_cluster.missing():
        skip(slurm_cluster.missing())
    # As ^C, which unittest lets through: the daemons end with the test.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder, slurm_cluster.SlurmCluster(folder):
        unittest.main()
