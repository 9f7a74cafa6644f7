"""Findings survive whatever ends the program: signals at random moments, under `run` and bare LD_PRELOAD,
and the ends that a program makes for itself.

    findings_survive.py BARRACUDA LIBRARY PROGRAM [--moments N] [--device gpu]

PROGRAM is tests/e2e/programs/ends.cu. The long run of the documentation is --moments 20.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGXCPU", "SIGSEGV", "SIGKILL"]
RACY_KERNELS = {"same_word", "neighbour", "lost_update"}
FINDINGS = 66


def racy_kernels(path):
    """The kernels of the races that the JSON report names, and its summary; none of a report that was not begun."""
    kernels, summary = set(), None
    if not path.exists():
        return kernels, summary
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry["type"] == "race":
            kernels |= {access["function"].split("(")[0] for access in entry["accesses"]}
        elif entry["type"] == "summary":
            summary = entry
    return kernels, summary


class Bench:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.failures = []
        self.runs = 0

    def start(self, how, bare):
        """The program under the tool, once it has printed that its racy kernels are through."""
        self.runs += 1
        self.json = self.folder / f"{self.runs}.json"
        options = f"device={self.arguments.device}:json={self.json}"
        environment = dict(os.environ, BARRACUDA_OPTIONS=options)
        command = [self.arguments.program, how]
        if bare:
            environment["LD_PRELOAD"] = self.arguments.library
            if self.arguments.device == "cpu":
                folder = self.folder / "lib"
                environment["LD_LIBRARY_PATH"] = f"{folder}:{environment.get('LD_LIBRARY_PATH', '')}"
        else:
            command = [self.arguments.barracuda, "run", "--"] + command
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if how != "early":
            assert process.stdout.readline() == "ready\n"
        return process

    def program_of(self, process):
        return int(subprocess.check_output(["pgrep", "-P", str(process.pid)], text=True).split()[0])

    def finish(self, process, what):
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.failures.append(f"{what}: does not end")
        return out, err

    def expect(self, holds, what, err):
        if not holds:
            self.failures.append(what + "\n" + "\n".join("    " + line for line in err.splitlines()[-12:]))

    def expect_races(self, what, err):
        kernels, summary = racy_kernels(self.json)
        self.expect(kernels == RACY_KERNELS, f"{what}: races in {sorted(kernels)} only", err)
        return summary

    def signalled(self, name, bare):
        """A signal at a random moment of the quiet launches."""
        what = f"{name}, {'bare' if bare else 'run'}"
        number = getattr(signal, name)
        process = self.start("loop", bare)
        time.sleep(0.3 + random.random())
        target = process.pid
        if not bare and name in ("SIGKILL", "SIGSEGV", "SIGXCPU"):  # run passes on what users send
            target = self.program_of(process)
        os.kill(target, number)
        _, err = self.finish(process, what)
        summary = self.expect_races(what, err)
        status = process.returncode
        self.expect(status == FINDINGS, f"{what}: status {status}", err)
        self.expect(summary is not None and summary["signal"] == number, f"{what}: summary {summary}", err)
        self.expect(f"ended by signal {int(number)}" in err, f"{what}: the end is not named", err)

    def terminated(self, how, coverage, says, bare):
        """As a pool of processes ends its workers: idle ones, or in the middle of a kernel."""
        what = f"SIGTERM, {how}, {'bare' if bare else 'run'}"
        process = self.start(how, bare)
        time.sleep(0.3)
        process.terminate()
        _, err = self.finish(process, what)
        summary = self.expect_races(what, err)
        self.expect(summary is not None and summary["coverage"] == coverage and summary["signal"] == signal.SIGTERM,
                    f"{what}: summary {summary}", err)
        unchecked = "may not be checked to its end"
        self.expect((unchecked in " ".join(err.split())) == says, f"{what}: '{unchecked}' is expected: {says}", err)

    def killed(self, what, how, bare):
        """SIGKILL from outside, ever later after the kernels are through. Where the machine is idle what is found is safe at
        once; where it is busy, the thread that writes may have to wait for its turn."""
        for seconds in (0, 0.05, 0.2, 0.5, 1, 2, 5):
            process = self.start(how, bare)
            time.sleep(seconds)
            os.kill(process.pid if bare else self.program_of(process), signal.SIGKILL)
            self.finish(process, what)
            races = racy_kernels(self.json)[0]
            if races == RACY_KERNELS:
                print(f"{what}: all was safe {seconds} s after the last kernel")
                return
        self.failures.append(f"{what}: races in {sorted(races)} only")

    def own_end(self, how, status, says=None, bare=False, own=None):
        what = f"{how}, {'bare' if bare else 'run'}"
        process = self.start(how, bare)
        out, err = self.finish(process, what)
        summary = self.expect_races(what, err) if how != "early" else None
        self.expect(own is None or (summary is not None and summary["exit_status"] == own),
                    f"{what}: the program's own status in {summary}", err)
        self.expect(process.returncode == status, f"{what}: status {process.returncode}, not {status}", err)
        self.expect(says is None or says in out + err, f"{what}: does not say '{says}'", err)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("barracuda")
    parser.add_argument("library")
    parser.add_argument("program")
    parser.add_argument("--moments", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        lib = pathlib.Path(folder) / "lib"
        lib.mkdir()
        for name in ("libcudart.so.13", "libcuda.so.1"):
            (lib / name).symlink_to(arguments.library)
        for _ in range(arguments.moments):
            for name in SIGNALS:
                bench.signalled(name, False)
                if name != "SIGKILL":
                    bench.signalled(name, True)
            # The findings are in the file; nobody is left to write more.
            bench.killed("SIGKILL, bare", "loop", True)
        for bare in (False, True):
            bench.terminated("idle", "complete", False, bare)
            bench.terminated("hang", "incomplete", True, bare)
            bench.own_end("segv", FINDINGS, "ended by signal 11", bare)
            bench.own_end("abort", FINDINGS, "ended by signal 6", bare)
            bench.own_end("kill", FINDINGS, "ended by signal 9", bare)
            bench.own_end("leave", FINDINGS, bare=bare)
            bench.own_end("handled", FINDINGS, bare=bare)
            bench.own_end("callback", FINDINGS, bare=bare)
            bench.own_end("no-exec", FINDINGS, "not executed", bare)
            if arguments.device == "cpu":  # the threads of a GPU's driver keep the process for ever
                bench.own_end("main-leaves", FINDINGS, "at exit", bare, own=0)
                bench.own_end("main-first", FINDINGS, "went on\nat exit", bare, own=0)
        bench.killed("SIGKILL, run", "idle", False)
        bench.own_end("exec", FINDINGS, "executed")
        bench.own_end("early", 128 + signal.SIGSEGV, "ended by signal 11")
    for failure in bench.failures:
        print("FAILED:", failure)
    print(f"{bench.runs} runs, {len(bench.failures)} failures")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
