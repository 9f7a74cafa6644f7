"""Attempts as tasks of a Dask cluster: one that runs already, or one that dask-jobqueue asks a batch system for."""

import queue
import subprocess
import uuid

from folder import CampaignError
from runner import End, Runner, RunnerLost, attempt_words

# dask_jobqueue's class for each; their settings stand in its own configuration (~/.config/dask/jobqueue.yaml).
BATCH_SYSTEMS = {"htcondor": "HTCondorCluster", "lsf": "LSFCluster", "moab": "MoabCluster", "oar": "OARCluster",
                 "pbs": "PBSCluster", "sge": "SGECluster", "slurm": "SLURMCluster"}
CONNECT_WITHIN = 30  # seconds
PAUSE = 0.5


def connect(scheduler, jobs):
    try:
        import distributed
    except ImportError:
        raise CampaignError("--runner dask: this Python has no dask.distributed: pip install distributed, or put the "
                            "environment that has it first in PATH") from None
    if scheduler not in BATCH_SYSTEMS:
        known = {"scheduler_file": scheduler} if scheduler.endswith(".json") else {"address": scheduler}
        try:
            return distributed.Client(**known, timeout=CONNECT_WITHIN), None
        except (OSError, ValueError) as error:
            raise CampaignError("--scheduler=%s: nobody answers (%s)" % (scheduler, error)) from None
    try:
        import dask_jobqueue
    except ImportError:
        raise CampaignError("--scheduler=%s: this Python has no dask_jobqueue: pip install dask-jobqueue"
                            % scheduler) from None
    try:
        cluster = getattr(dask_jobqueue, BATCH_SYSTEMS[scheduler])()
    except (ValueError, TypeError) as error:
        raise CampaignError("--scheduler=%s: %s (dask-jobqueue's configuration says how much a job asks for)"
                            % (scheduler, error)) from None
    cluster.scale(jobs=jobs or 1)
    return distributed.Client(cluster), cluster


class DaskRunner(Runner):
    def __init__(self, barracuda, campaign, scheduler, jobs):
        if scheduler is None:
            raise CampaignError("--runner dask needs --scheduler: the address of a Dask scheduler, its file (.json), or "
                                "for dask-jobqueue %s" % ", ".join(sorted(BATCH_SYSTEMS)))
        self.barracuda, self.campaign, self.scheduler = barracuda, campaign, scheduler
        self.client, self.cluster = connect(scheduler, jobs)
        self.futures = {}  # by task
        self.done = queue.Queue()

    def describe(self):
        return "on the Dask cluster of %s" % self.client.scheduler.address

    def start(self, tasks):
        for task in tasks:
            # A function of Python's own: workers need no module of ours. A name that was never used before, since Dask
            # would give the answer of an old one.
            words = attempt_words("python3", self.barracuda, self.campaign, task)
            future = self.client.submit(subprocess.call, words, stdin=subprocess.DEVNULL, pure=False,
                                        key="barracuda-task-%d-%s" % (task, uuid.uuid4().hex))
            self.futures[task] = future
            future.add_done_callback(lambda _, task=task, future=future: self.done.put((task, future)))

    def ends(self):
        ended = []
        try:
            ended.append(self.done.get(timeout=PAUSE))
            while True:
                ended.append(self.done.get_nowait())
        except queue.Empty:
            pass
        if self.client.status in ("closing", "closed"):
            raise RunnerLost("the Dask scheduler %s is gone" % self.scheduler)
        for task, future in ended:
            if self.futures.get(task) is future:
                del self.futures[task]
                yield End(task, self.reason_of(future))

    @staticmethod
    def reason_of(future):
        """If the attempt itself could not say: it is the worker that was lost, whether Dask has told us or not."""
        if future.status == "error":
            return "Dask says: %s" % str(future.exception()).split("\n")[0]
        if future.status == "cancelled":
            return "Dask has cancelled it"
        return "its Dask worker was lost"

    def running(self):
        try:
            return sum(map(len, self.client.processing().values()))
        except (OSError, ValueError, TimeoutError):
            return 0  # it is being looked for; ends() says when it is gone

    def stop(self):
        if self.client.status == "running":
            self.client.cancel(list(self.futures.values()))
        self.futures.clear()
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()
