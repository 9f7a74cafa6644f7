"""Campaigns on a Dask cluster: two workers in two network namespaces, one of which is killed, or cut off, in mid-run.
With `dask-jobqueue` as well, where there is a Slurm for it."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import slurm_cluster
import two_hosts
from trial import (BUILD, TESTS, CampaignTest, barracuda, children_of, skip, wait_until,
                   write_mixed)

SOME = TESTS[:20]
TTL = 5  # seconds without a word after which the scheduler gives a worker up
LONGER_THAN_TTL = TTL  # a slow task takes some four times as long


def python_with_dask():
    """The folder of one: of PATH, or of what tools/try_campaign.sh has installed."""
    for python in (shutil.which("python3"), BUILD / "campaign-venv/bin/python3"):
        if python and Path(python).exists() and subprocess.run(
                [python, "-c", "import distributed"], capture_output=True, check=False).returncode == 0:
            return Path(python).parent
    return None


class SameHost:
    """In place of a namespace: an address of its own on this machine."""

    def __init__(self, name, number):
        self.name, self.head, self.address = name, "127.0.0.1", "127.0.0.%d" % (2 + number)

    def words(self, *command):
        return list(command)


class Dask:
    """A scheduler here, and a worker on each host."""

    def __init__(self, hosts, folder):
        self.hosts, self.folder, self.processes, self.workers = hosts, folder, [], {}

    def __enter__(self):
        file = self.folder / "scheduler.json"
        self.start(["dask", "scheduler", "--host", "0.0.0.0", "--port", str(slurm_cluster.free_port()),
                    "--no-dashboard", "--scheduler-file", str(file)], "scheduler")
        wait_until(lambda: file.exists() and file.read_text().strip(), "the scheduler is not up")
        port = json.loads(file.read_text())["address"].rpartition(":")[2]
        self.scheduler = "tcp://127.0.0.1:%s" % port
        for host in self.hosts:
            self.workers[host.name] = self.start(host.words(
                "dask", "worker", "tcp://%s:%s" % (host.head, port), "--host", host.address, "--nthreads", "1",
                "--no-nanny", "--no-dashboard", "--name", host.name, "--local-directory",
                str(self.folder / host.name)), host.name)
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def start(self, words, name):
        with open(self.folder / (name + ".log"), "wb") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder, env={
                **os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "%ds" % TTL}, start_new_session=True)
        self.processes.append(process)
        return process


class DaskCampaign(CampaignTest):
    hosts = ()

    def victim(self, dask, slow):
        """A host on which an attempt at a slow task is under way, and the task; None if there is none."""
        for started in (self.folder / "attempts").glob("*/started.json"):
            task = int(started.parent.name.partition(".")[0])
            if task <= slow and (started.parent / "stderr").exists() and not (started.parent / "ended.json").exists():
                process = json.loads(started.read_text())["process"]
                for host in self.hosts:
                    if process in children_of(dask.workers[host.name].pid):
                        return host, task
        return None

    def interrupted_run(self, interrupt, slow, seconds, tests):
        """What was said by a run in which a worker was interrupted so, and its host and task. The slow tasks come first."""
        self.assert_ran(write_mixed(self.folder, slow, seconds, tests), 0)
        with Dask(self.hosts, self.scratch) as dask:
            run = self.start("--runner", "dask", "--scheduler", dask.scheduler)
            wait_until(lambda: self.victim(dask, slow), "nothing is under way")
            host, task = self.victim(dask, slow)
            interrupt(dask, host)
            _, said = run.communicate()
            self.assertEqual(run.returncode, 0, said)
            print("\n".join(line for line in said.splitlines() if line.startswith("BARRACUDA")))
            self.assert_once(self.folder)
        return said, host, task

    def test_a_worker_that_is_killed(self):
        def kill(dask, host):
            # SIGKILL to the worker alone: what it had started must end by itself.
            worker = dask.workers[host.name]
            below = children_of(worker.pid)
            worker.kill()
            wait_until(lambda: not any(Path("/proc/%d" % each).exists() for each in below), "an attempt outlives it")

        said, host, task = self.interrupted_run(kill, 4, 1, SOME)
        self.assertRegex(said, r"task %d died: attempt 1 on \S+, [^\n]+; it was repeated" % task)
        if isinstance(host, two_hosts.Host):
            [other] = [each.name for each in self.hosts if each is not host]
            first = json.loads((self.folder / "results" / ("%d.jsonl" % task)).read_text().splitlines()[0])
            self.assertEqual((first["attempt"], first["host"]), (2, other))
        self.assert_is_as_on_this_machine(self.folder, 4, SOME)

    def test_a_worker_that_is_cut_off(self):
        """It goes on, while the other one is given its task: one of the two results counts."""
        if not isinstance(self.hosts[0], two_hosts.Host):
            self.skipTest("a wire to cut needs network namespaces")
        _, host, _ = self.interrupted_run(lambda _, victim: victim.cut(), 1, LONGER_THAN_TTL, SOME[:2])
        host.mend()
        attempts = [self.folder / "attempts" / ("1.%d" % number) for number in (1, 2)]
        first, second = [json.loads((attempt / "started.json").read_text())["host"] for attempt in attempts]
        self.assertNotEqual(first, second)
        reasons = [json.loads((attempt / "ended.json").read_text())["reason"] for attempt in attempts
                   if (attempt / "ended.json").exists()]
        self.assertEqual(reasons.count(None), 1)

    def test_a_scheduler_that_is_not_there(self):
        self.assert_ran(write_mixed(self.folder, 0, tests=SOME[:1]), 0)
        done = barracuda("campaign", "run", self.folder, "--runner", "dask", "--scheduler",
                         "tcp://127.0.0.1:%d" % slurm_cluster.free_port())
        self.assert_ran(done, 64)
        self.assertIn("nobody answers", done.stderr)

    def test_a_scheduler_that_dies(self):
        """Ends with what is known, and goes on here."""
        self.assert_ran(write_mixed(self.folder, 1, 1, SOME[:2]), 0)
        with Dask(self.hosts, self.scratch) as dask:
            run = self.start("--runner", "dask", "--scheduler", dask.scheduler)
            wait_until(lambda: self.victim(dask, 1), "nothing is under way")
            dask.processes[0].kill()
            _, said = run.communicate()
        self.assertEqual(run.returncode, 67, said)
        self.assertIn("the Dask scheduler %s is gone" % dask.scheduler, said)
        self.assert_ran(barracuda("campaign", "run", self.folder), 0)
        self.assert_once(self.folder)

    def test_dask_jobqueue(self):
        if slurm_cluster.missing():
            self.skipTest(slurm_cluster.missing())
        if subprocess.run(["python3", "-c", "import dask_jobqueue"], capture_output=True, check=False).returncode:
            self.skipTest("this Python has no dask_jobqueue")
        self.assert_ran(write_mixed(self.folder, 1, tests=SOME[:6]), 0)
        cluster = self.scratch / "slurm"
        cluster.mkdir()
        os.environ.update({"DASK_JOBQUEUE__SLURM__CORES": "1", "DASK_JOBQUEUE__SLURM__MEMORY": "1GB",
                           "DASK_JOBQUEUE__SLURM__PROCESSES": "1",
                           "DASK_JOBQUEUE__SLURM__LOG_DIRECTORY": str(self.scratch / "logs"),
                           "DASK_JOBQUEUE__SLURM__LOCAL_DIRECTORY": str(self.scratch),
                           "DASK_JOBQUEUE__SLURM__JOB_DIRECTIVES_SKIP": '["--mem"]'})
        with slurm_cluster.SlurmCluster(cluster):
            done = barracuda("campaign", "run", self.folder, "--runner", "dask", "--scheduler", "slurm", "--jobs", "2")
            self.assert_ran(done, 0)
        self.assert_once(self.folder)
        self.assert_is_as_on_this_machine(self.folder, 1, SOME[:6])


def main():
    python = python_with_dask()
    if python is None:
        skip("no dask.distributed: neither this Python has it nor %s" % (BUILD / "campaign-venv"))
    os.environ["PATH"] = "%s:%s" % (python, os.environ["PATH"])
    reason = two_hosts.missing()
    if reason is None:
        with two_hosts.TwoHosts() as DaskCampaign.hosts:
            unittest.main()
    print("two addresses of this machine in place of two namespaces: " + reason)
    DaskCampaign.hosts = [SameHost(name, number) for number, name in enumerate(two_hosts.NAMES)]
    unittest.main()


if __name__ == "__main__":
    main()
