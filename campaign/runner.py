"""What all runners share: each task gets a result, a task that died is repeated and named, and then given up."""

import os
from pathlib import Path
from typing import NamedTuple, Optional


INTERRUPTED = "interrupted"  # how the reason of an attempt that was told to end begins


class End(NamedTuple):
    """Of one attempt, as its runner saw it. Whether the task has a result is for the folder to say."""
    task: int
    reason: str  # why, if the attempt itself could not say
    host: Optional[str] = None


class RunnerLost(Exception):
    """What starts attempts is gone in mid-run, in one sentence."""


class Runner:
    """How attempts are started and awaited. Used by one thread."""

    def start(self, tasks):
        """An attempt at each, now or when there is room."""
        raise NotImplementedError

    def ends(self):
        """Those that ended since the last call, after waiting a moment if there are none."""
        raise NotImplementedError

    def running(self):
        """How many are under way, as far as is known."""
        raise NotImplementedError

    def stop(self):
        """Nothing that was started goes on."""
        raise NotImplementedError

    def adopt(self, tasks):
        """Which of these are still under way, from a run that was killed."""
        return set()


def attempt_words(python, barracuda, campaign, task):
    """`python` runs it: on another machine the one that is found there."""
    return [python, "-B", str(Path(__file__).resolve().parent / "attempt.py"), barracuda,
            str(campaign.path), str(task)]


class Supervision:
    """One `barracuda campaign run`."""

    def __init__(self, campaign, runner, retries, progress):
        self.campaign, self.runner, self.retries, self.progress = campaign, runner, retries, progress
        self.deaths = {}
        self.known = {}  # by task, how many attempts were looked at

    def execute(self):
        """The numbers of the tasks that were given up."""
        self.campaign.note("run")
        waiting = set(self.campaign.tasks) - self.campaign.answered()
        self.progress.begin(len(self.campaign.tasks), len(self.campaign.tasks) - len(waiting))
        adopted = self.runner.adopt(waiting)
        for task in waiting:
            attempts = self.campaign.attempts_of(task)
            is_under_way = task in adopted and attempts and not attempts[-1].ended
            self.known[task] = len(attempts) - (1 if is_under_way else 0)
        given_up = set()
        try:
            self.runner.start(sorted(waiting - adopted))
            while waiting:
                for end in self.runner.ends():
                    if end.task in waiting and self.is_over(end, given_up):
                        waiting.discard(end.task)
                self.progress.tell(len(waiting), self.runner.running(), sum(self.deaths.values()))
        finally:
            self.progress.end()
            self.runner.stop()
        return given_up

    def is_over(self, end, given_up):
        has_result = self.campaign.has_result(end.task)
        died = self.note_deaths(end, has_result)
        if has_result:
            return True
        if self.deaths[end.task] <= self.retries:
            self.runner.start([end.task])
            return False
        given_up.add(end.task)
        self.campaign.note("given up", task=end.task, status=died.get("status"), reason=died["reason"])
        self.progress.say("task %d is given up after %d attempts" % (end.task, self.deaths[end.task]))
        return True

    def note_deaths(self, end, has_result):
        """Of all attempts since the last look: Dask repeats tasks by itself when it loses a worker."""
        attempts = self.campaign.attempts_of(end.task)
        new = attempts[self.known.get(end.task, 0):]
        self.known[end.task] = len(attempts)
        died = []
        for attempt in new:
            ended = attempt.ended or {}
            is_last = attempt is new[-1]
            if ended and (ended.get("reason") is None or ended["reason"] == "another attempt was first"):
                continue
            if has_result and is_last and not ended:
                continue  # it has published, and was killed before it could say so
            died.append({"attempt": attempt.number, "host": attempt.started.get("host") or end.host,
                         "status": ended.get("status"), "reason": reason_of(ended.get("reason"), end)})
        if not died and not has_result:
            died.append({"attempt": None, "host": end.host, "status": None, "reason": end.reason})
        for what in died:
            self.campaign.note("died", task=end.task, **what)
            self.deaths[end.task] = self.deaths.get(end.task, 0) + 1
            self.progress.say("task %d died: %s" % (end.task, death_text(what)))
        return died[-1] if died else None


def reason_of(own, end):
    """What the attempt says. Who was told to end does not know why: the runner may."""
    if own is None:
        return end.reason
    return "%s; %s" % (own, end.reason) if own.startswith(INTERRUPTED) else own


def death_text(death):
    where = " on %s" % death["host"] if death.get("host") else ""
    which = "attempt %d" % death["attempt"] if death.get("attempt") else "before it began"
    return "%s%s, %s" % (which, where, death["reason"])


def own_cores():
    return len(os.sched_getaffinity(0))
