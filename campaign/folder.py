"""A campaign as it lies on disk: what every process that has to do with it agrees on.

    campaign.json     what `barracuda campaign write` was given; its last file, so without it there is no campaign
    tasks.jsonl       one task a line: its number, the words behind `barracuda`, their digest
    attempts/T.N/     try N at task T: started.json, stdout, stderr, report.jsonl, and at its end ended.json
    results/T.jsonl   what is counted of task T: a line on the task, then the lines of its report
    events.jsonl      what runners note: tasks that died, jobs of Slurm
    lock              held by the one runner

A result appears whole and once: it is written and synchronised beside its place, then linked to it, and a link to a
name that exists fails, on a network file system too. So a task that ran twice, because its node only seemed to be
lost, counts once.
"""

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import NamedTuple

SCHEMA = 1  # of these files: goes up when a reader of today would misunderstand them

BAD_OPTION, FINDINGS, NOT_CHECKED, TOOL_FAILED = 64, 66, 67, 70  # exit status, docs/REPORTS.md
NOT_STARTED = (126, 127)


class CampaignError(Exception):
    """What the user did wrong, in one sentence; exit status 64."""


class Task(NamedTuple):
    number: int
    words: list
    digest: str


class Result(NamedTuple):
    task: dict  # the first line
    lines: list  # the others, as they are


def write_whole(path, text):
    """Replaces a file by one that is on the disk to its end."""
    beside = path.with_name(".%s.%s.%d" % (path.name, socket.gethostname(), os.getpid()))
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def synchronise(folder):
    """A name in a folder survives a crash only once the folder is on the disk."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def read_json(path):
    """None if it is not there, or not whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def whole_lines(path):
    """The JSON lines of a file that may be growing, or cut by a crash."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


class Attempt:
    def __init__(self, folder, task, number):
        self.task, self.number, self.folder = task, number, folder

    @property
    def started(self):
        return read_json(self.folder / "started.json") or {}

    @property
    def ended(self):
        return read_json(self.folder / "ended.json")

    def begin(self):
        write_whole(self.folder / "started.json", json.dumps(
            {"host": socket.gethostname(), "process": os.getpid(), "time": time.time()}) + "\n")

    def end(self, **what):
        write_whole(self.folder / "ended.json", json.dumps({**what, "time": time.time()}) + "\n")


class Campaign:
    def __init__(self, path):
        self.path = Path(path).absolute()
        given = read_json(self.path / "campaign.json")
        if not isinstance(given, dict) or given.get("type") != "campaign":
            raise CampaignError("%s: there is no campaign here; barracuda campaign write makes one" % path)
        if given["schema"] != SCHEMA:
            raise CampaignError("%s: a campaign of version %s; this barracuda knows %d"
                                % (path, given["schema"], SCHEMA))
        self.folder, self.options = given["folder"], given["options"]
        self.tasks = {line["task"]: Task(line["task"], line["words"], line["digest"])
                      for line in whole_lines(self.path / "tasks.jsonl")}
        if len(self.tasks) != given["tasks"]:
            raise CampaignError("%s/tasks.jsonl has %d tasks, and %d were written: write the campaign anew"
                                % (path, len(self.tasks), given["tasks"]))
        commands = {task.words[0] for task in self.tasks.values()}
        self.command = commands.pop() if len(commands) == 1 else None  # None: they differ
        for name in ("attempts", "results"):
            (self.path / name).mkdir(exist_ok=True)

    # Attempts.

    def attempt(self, task, number):
        return Attempt(self.path / "attempts" / ("%d.%d" % (task, number)), task, number)

    def new_attempt(self, task):
        """Its folder is the claim: of two that make one at the same time each gets a number of its own."""
        number = 1
        while True:
            attempt = self.attempt(task, number)
            try:
                attempt.folder.mkdir()
            except FileExistsError:
                number += 1
                continue
            attempt.begin()
            return attempt

    def attempts_of(self, task):
        """The first first."""
        found = []
        while (attempt := self.attempt(task, len(found) + 1)).folder.is_dir():
            found.append(attempt)
        return found

    # Results.

    def result_path(self, task):
        return self.path / "results" / ("%d.jsonl" % task)

    def has_result(self, task):
        return self.result_path(task).exists()

    def publish(self, attempt, text):
        """False if another attempt was first."""
        own = attempt.folder / "result.jsonl"
        write_whole(own, text)
        try:
            os.link(own, self.result_path(attempt.task))
        except FileExistsError:
            return False
        synchronise(self.path / "results")
        return True

    def results(self):
        """What there is of each task, in the order of the tasks."""
        for number, task in sorted(self.tasks.items()):
            path = self.result_path(number)
            try:
                lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
                first = json.loads(lines[0])
            except FileNotFoundError:
                continue
            except (ValueError, IndexError):
                raise CampaignError("%s is damaged; remove it, and its task is run again" % path) from None
            if first.get("digest") != task.digest:
                raise CampaignError("%s is of another campaign; remove it" % path)
            yield Result(first, lines[1:])

    def answered(self):
        """The numbers of the tasks that have a result."""
        names = os.listdir(self.path / "results")
        return {int(name[:-6]) for name in names if name.endswith(".jsonl") and name[:-6].isdecimal()}

    # What runners note.

    def note(self, event, **what):
        line = json.dumps({"event": event, "time": time.time(), **what}) + "\n"
        number = os.open(self.path / "events.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(number, line.encode())
            os.fsync(number)
        finally:
            os.close(number)

    def events(self):
        return list(whole_lines(self.path / "events.jsonl"))

    def lock(self):
        """For as long as this process lives."""
        self._lock = open(self.path / "lock", "a", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CampaignError("%s: another barracuda campaign run is at work on it" % self.path) from None
