"""One attempt at one task: attempt.py BARRACUDA FOLDER TASK. What runners start, on whichever machine.

Exit status 0: the task has a result. Anything else: this attempt has none, and ended.json says why if it still could.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

from folder import BAD_OPTION, NOT_STARTED, TOOL_FAILED, Campaign, CampaignError
from runner import INTERRUPTED

DIED = 1
PATIENCE = 10  # seconds from SIGTERM to SIGKILL
PR_SET_PDEATHSIG = 1
# What says of a process that it is one of several that make a run together (report/process_name.cpp): srun says so of
# everything, and a task is a run of its own.
RANKS = ("SLURM_PROCID", "PMI_RANK", "PMIX_RANK")
LIBC = ctypes.CDLL(None)

interrupted_by = []


class Died(Exception):
    """Why this attempt has no result. The exit status of the command, if that was it."""

    def __init__(self, reason, status=None):
        super().__init__(reason)
        self.status = status


def end_with_parent():
    """Between fork and exec. Without this, a command would outlive an attempt that was killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def words_of(barracuda, task, attempt):
    command, *rest = task.words
    words = [barracuda, command, "--json", str(attempt.folder / "report.jsonl")]
    if command == "expose":
        words += ["--plan", str(attempt.folder / "plan.weakness")]
    return words + rest


def end(child):
    child.terminate()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def wait_for(child):
    """Its exit status; raises Died if somebody wants this attempt to end, or nobody waits for it."""
    parent = os.getppid()
    while True:
        try:
            status = child.wait(0.2)
        except subprocess.TimeoutExpired:
            status = None
        # In this order: a command that was told to end has a report, of a part of its work.
        if interrupted_by:
            end(child)
            raise Died("%s by %s" % (INTERRUPTED, interrupted_by[0]))
        if status is not None:
            return status
        if os.getppid() != parent:
            end(child)
            raise Died("%s by the end of the process that had started it" % INTERRUPTED)


def last_line(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")


def report_lines(attempt, status):
    """The report's text. Without a report only a command that could not begin has answered."""
    try:
        text = (attempt.folder / "report.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        if status == BAD_OPTION or status in NOT_STARTED:
            return ""
        raise Died("exit status %d without a report" % status, status) from None
    lines = text.splitlines(keepends=True)
    try:
        for line in lines:
            json.loads(line)
    except ValueError:
        raise Died("its report is damaged", status) from None
    if lines and not lines[-1].endswith("\n"):
        raise Died("its report has no end", status)
    return text


def run(barracuda, campaign, task, attempt):
    """The status, the report and the seconds that it took."""
    begun = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name not in RANKS}
    environment["BARRACUDA_OPTIONS"] = campaign.options
    with open(attempt.folder / "stdout", "wb") as out, open(attempt.folder / "stderr", "wb") as err:
        try:
            # A session of its own: the ^C of a terminal is for the runner.
            child = subprocess.Popen(words_of(barracuda, task, attempt), cwd=campaign.folder, env=environment,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                     preexec_fn=end_with_parent)
        except OSError as error:
            raise Died("%s cannot be started: %s" % (barracuda, error)) from None
        status = wait_for(child)
    if status < 0:
        raise Died("ended by %s" % signal.Signals(-status).name, 128 - status)
    if status == TOOL_FAILED:
        raise Died("the tool failed: " + last_line(attempt.folder / "stderr"), status)
    return status, report_lines(attempt, status), time.monotonic() - begun


def attempt_task(barracuda, campaign, task):
    if campaign.has_result(task.number):
        return 0
    attempt = campaign.new_attempt(task.number)
    try:
        status, report, seconds = run(barracuda, campaign, task, attempt)
    except Died as died:
        attempt.end(reason=str(died), status=died.status)
        print("task %d, attempt %d: %s" % (task.number, attempt.number, died), file=sys.stderr)
        return DIED
    try:
        return publish(campaign, task, attempt, status, report, seconds)
    except OSError as error:  # the disk is full, or the file system has no links
        attempt.end(reason="its result cannot be written: %s" % error, status=None)
        raise


def publish(campaign, task, attempt, status, report, seconds):
    first = {"type": "campaign-task", "task": task.number, "digest": task.digest, "attempt": attempt.number,
             "host": attempt.started.get("host"), "status": status, "seconds": round(seconds, 3)}
    counts = campaign.publish(attempt, json.dumps(first) + "\n" + report)
    attempt.end(reason=None if counts else "another attempt was first", status=status)
    return 0


def main():
    barracuda, folder, number = sys.argv[1:]
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda number, _: interrupted_by.append(signal.Signals(number).name))
    try:
        campaign = Campaign(folder)
        return attempt_task(barracuda, campaign, campaign.tasks[int(number)])
    except (CampaignError, OSError) as error:
        print("barracuda: %s" % error, file=sys.stderr)
        return DIED


if __name__ == "__main__":
    sys.exit(main())
