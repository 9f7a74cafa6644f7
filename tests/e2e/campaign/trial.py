"""What the tests of campaigns share: a campaign whose right result is known, and what must hold of any run of it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BUILD = Path(os.environ["BUILD"])
ROOT = Path(__file__).resolve().parents[3]
BARRACUDA = BUILD / "bin/barracuda"
PROGRAMS = BUILD / "programs"
TESTS = sorted((ROOT / "tests/litmus").glob("*/*.litmus"))
SKIPPED = 77
PATIENCE = 240  # seconds for anything


def barracuda(*words, environment=None, **more):
    return subprocess.run([str(BARRACUDA), *map(str, words)], text=True, capture_output=True, check=False,
                          timeout=PATIENCE, env={**os.environ, **(environment or {})}, **more)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def slow_line(seconds, number):
    """A task that takes its time: runs of a program that sleeps. Its answer is that nothing fails."""
    return ("expose --random --p 1 --runs 1 --seed %d -- sh -c 'sleep %s; exec %s'"
            % (number, seconds, PROGRAMS / "handover_fixed"))


def write_lines(folder, lines):
    file = folder.with_suffix(".lines")
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return barracuda("campaign", "write", folder, "--lines", file)


def write_mixed(folder, slow, seconds=0.4, tests=TESTS):
    """Slow tasks first, then quick ones."""
    lines = [slow_line(seconds, number + 1) for number in range(slow)]
    return write_lines(folder, lines + ["explore --memory-model ptx %s" % test for test in tests])


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def events_of(folder, kind):
    return [event for event in map(json.loads, lines_of(folder / "events.jsonl")) if event["event"] == kind]


def wait_until(claim, what):
    end = time.monotonic() + PATIENCE
    while not claim():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def is_under_way(folder, task):
    """The command of some attempt at it has begun."""
    return any((attempt / "stderr").exists() and not (attempt / "ended.json").exists()
               for attempt in (folder / "attempts").glob("%d.*" % task))


def children_of(process):
    """The processes below it, by what /proc says."""
    below, all_processes = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            all_processes.setdefault(parent, []).append(int(entry.name))
    rest = [process]
    while rest:
        for child in all_processes.get(rest.pop(), []):
            below.append(child)
            rest.append(child)
    return below


def words_of(process):
    try:
        return Path("/proc/%d/cmdline" % process).read_bytes().decode().split("\0")
    except OSError:
        return []


def kill_command(folder, task):
    """Ends by SIGKILL, and at once, the barracuda that works on a task: as a lack of memory would."""
    wait_until(lambda: is_under_way(folder, task), "task %d is not under way" % task)
    [attempt] = [each for each in (folder / "attempts").glob("%d.*" % task) if not (each / "ended.json").exists()]
    process = json.loads((attempt / "started.json").read_text(encoding="utf-8"))["process"]
    wait_until(lambda: any(words_of(child)[:1] == [str(BARRACUDA)] for child in children_of(process)),
               "no barracuda below the attempt")
    for child in children_of(process):
        if words_of(child)[:1] == [str(BARRACUDA)]:
            os.kill(child, signal.SIGKILL)


class CampaignTest(unittest.TestCase):
    def setUp(self):
        # Attempts that outlive a cut wire still write there.
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.folder = self.scratch / "campaign"

    def start(self, *words):
        """`campaign run`, which goes on."""
        process = subprocess.Popen([BARRACUDA, "campaign", "run", self.folder, *words], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_ran(self, done, status):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)

    def result(self, folder, status):
        """The lines of the result but the last, and the last."""
        file = folder.with_suffix(".result")
        done = barracuda("campaign", "result", folder, "--json", file)
        self.assert_ran(done, status)
        *lines, last = lines_of(file)
        return lines, json.loads(last)

    def assert_is_as_on_this_machine(self, folder, slow, tests):
        """But for what tells one process from another."""
        def comparable(lines):
            parsed = list(map(json.loads, lines))
            for line in parsed:
                for process in line.get("processes", []):
                    process.pop("pid")
            return parsed

        local = folder.with_name("local")
        self.assert_ran(write_mixed(local, slow, tests=tests), 0)
        self.assert_ran(barracuda("campaign", "run", local), 0)
        self.assertEqual(comparable(self.result(folder, 0)[0]), comparable(self.result(local, 0)[0]))

    def assert_once(self, folder):
        """Every task has one result, of one attempt, and each attempt has ended."""
        tasks = len(lines_of(folder / "tasks.jsonl"))
        for number in range(1, tasks + 1):
            first = json.loads(lines_of(folder / "results" / ("%d.jsonl" % number))[0])
            self.assertEqual(first["task"], number)
        self.assertEqual(len(list((folder / "results").iterdir())), tasks)
