"""Attempts as processes of this machine, as many at a time as it has cores."""

import collections
import signal
import subprocess
import sys
import time

from runner import End, Runner, attempt_words, own_cores

PAUSE = 0.05  # seconds between two looks


class LocalRunner(Runner):
    def __init__(self, barracuda, campaign, jobs):
        self.barracuda, self.campaign = barracuda, campaign
        # `expose` and `harden` make as many runs at a time as there are cores themselves.
        self.jobs = jobs or (own_cores() if campaign.command == "explore" else 1)
        self.queue = collections.deque()
        self.processes = {}  # by task

    def describe(self):
        return "on this machine, %d at a time" % self.jobs

    def start(self, tasks):
        self.queue.extend(tasks)
        self.fill()

    def fill(self):
        while self.queue and len(self.processes) < self.jobs:
            task = self.queue.popleft()
            self.processes[task] = subprocess.Popen(
                attempt_words(sys.executable, self.barracuda, self.campaign, task), stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True)

    def ends(self):
        ended = {task: process.poll() for task, process in self.processes.items() if process.poll() is not None}
        if not ended:
            time.sleep(PAUSE)
        for task, status in ended.items():
            del self.processes[task]
            reason = ("its process was ended by %s" % signal.Signals(-status).name if status < 0
                      else "its process ended with status %d" % status)
            yield End(task, reason)
        self.fill()

    def running(self):
        return len(self.processes)

    def stop(self):
        self.queue.clear()
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait()
        self.processes.clear()
