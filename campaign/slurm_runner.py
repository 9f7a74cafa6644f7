"""Attempts as elements of Slurm job arrays: sbatch queues them, srun starts each, squeue tells how they do."""

import shlex
import shutil
import subprocess
import time

from folder import CampaignError
from runner import End, Runner, attempt_words

PAUSE = 2  # seconds between two questions to squeue: the controller serves everyone
# Looks at a result that is not there after its job has ended: a network file system shows it late.
PATIENCE = 3
UNDER_WAY = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
             "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SPECIAL_EXIT"}


def ask(words, given=None):
    """The standard output of a command of Slurm; raises CampaignError with what it complained of."""
    done = subprocess.run(words, input=given, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        complaint = " ".join(done.stderr.split()) or "status %d" % done.returncode
        raise CampaignError("%s: %s" % (words[0], complaint))
    return done.stdout


def largest_array():
    for line in ask(["scontrol", "show", "config"]).splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "MaxArraySize":
            return max(1, int(value) - 1)
    return 1000


class SlurmRunner(Runner):
    def __init__(self, barracuda, campaign, jobs, sbatch):
        for command in ("sbatch", "srun", "squeue", "scancel", "scontrol"):
            if shutil.which(command) is None:
                raise CampaignError("--runner slurm: there is no %s here" % command)
        self.barracuda, self.campaign, self.jobs = barracuda, campaign, jobs
        self.sbatch = sbatch
        self.largest = largest_array()
        self.folder = campaign.path / "slurm"
        self.folder.mkdir(exist_ok=True)
        self.elements = {}  # by element of a job array, JOB_INDEX: its task
        self.looks = {}  # by element, at a result that is not there
        self.waiting = []  # tasks that sbatch did not take
        self.under_way = 0
        self.asked = 0.0

    def describe(self):
        return "by Slurm, in job arrays of at most %d" % self.largest

    def start(self, tasks):
        is_first = not self.elements
        self.waiting += tasks
        try:
            self.submit_waiting()
        except CampaignError:
            if is_first:
                raise
            # Not for a controller that is busy: ends() tries again.

    def submit_waiting(self):
        while self.waiting:
            self.submit(self.waiting[:self.largest])
            del self.waiting[:self.largest]

    def submit(self, tasks):
        number = len(list(self.folder.glob("*.tasks"))) + 1
        names = self.folder / ("%d.tasks" % number)
        names.write_text("".join("%d\n" % task for task in tasks), encoding="utf-8")
        words = attempt_words("python3", self.barracuda, self.campaign, 0)[:-1]
        script = ("#!/bin/sh\n"
                  'exec srun --ntasks=1 %s "$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" %s)"\n'
                  % (" ".join(map(shlex.quote, words)), shlex.quote(str(names))))
        at_once = "%%%d" % self.jobs if self.jobs else ""
        # --no-requeue: who repeats is this process, which counts.
        job = ask(["sbatch", "--parsable", "--no-requeue", "--job-name=barracuda-campaign",
                   "--array=0-%d%s" % (len(tasks) - 1, at_once), "--chdir=%s" % self.campaign.folder,
                   "--output=%s" % (self.folder / "%A_%a.out"), *self.sbatch], script)
        job = job.strip().split(";")[0]
        self.campaign.note("submitted", job=job, tasks=tasks)
        self.elements.update({"%s_%d" % (job, index): task for index, task in enumerate(tasks)})

    def states(self):
        """By element: its state, and its node. Slurm forgets a job some minutes after its end."""
        jobs = sorted({element.split("_")[0] for element in self.elements})
        told = {}
        if not jobs:
            return told
        try:
            answer = ask(["squeue", "--noheader", "--array", "--states=all", "--format=%F_%K|%T|%N|%r", "--jobs",
                          ",".join(jobs)])
        except CampaignError as error:
            if "Invalid job id" not in str(error):
                raise
            return told
        for line in answer.splitlines():
            element, state, node, reason = line.strip().split("|", 3)
            told[element] = (state, node, reason)
        return told

    def ends(self):
        time.sleep(max(0.0, self.asked + PAUSE - time.monotonic()))
        self.asked = time.monotonic()
        try:
            self.submit_waiting()
            told = self.states()
        except CampaignError:
            return  # the controller is busy or restarts: jobs go on without it
        self.under_way = sum(told.get(element, ("",))[0] == "RUNNING" for element in self.elements)
        for element, task in list(self.elements.items()):
            state, node, reason = told.get(element, ("FORGOTTEN", None, "None"))
            if state in UNDER_WAY:
                continue
            self.looks[element] = self.looks.get(element, 0) + 1
            if not self.campaign.has_result(task) and self.looks[element] < PATIENCE:
                continue
            del self.elements[element]
            why = "" if reason in ("None", "") else " (%s)" % reason
            yield End(task, "Slurm says of job %s: %s%s" % (element, state, why), node or None)

    def running(self):
        return self.under_way

    def adopt(self, tasks):
        submitted = {}
        for event in self.campaign.events():
            if event["event"] == "submitted":
                for index, task in enumerate(event["tasks"]):
                    submitted[task] = "%s_%d" % (event["job"], index)
        self.elements = {element: task for task, element in submitted.items() if task in tasks}
        told = self.states()
        self.elements = {element: task for element, task in self.elements.items()
                         if told.get(element, ("FORGOTTEN",))[0] in UNDER_WAY}
        return set(self.elements.values())

    def stop(self):
        if self.elements:
            subprocess.run(["scancel", *self.elements], capture_output=True, check=False)
            self.elements.clear()
