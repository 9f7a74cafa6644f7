"""A plug-in of pytest that checks the CUDA kernels that tests launch: pytest -p barracuda_pytest --barracuda.

Each test runs in a process of its own under `barracuda run`, so that a report is of one test. Findings fail
a test that has passed; what pytest itself says of a test (failed, skipped, expected to fail) stays.
A line at the end says how many tests launched kernels, and which of them launched kernels that could not be
checked; with --barracuda-option strict=1 such a test fails.

    @pytest.mark.barracuda(severity="error")   # options of one test, by their names with _ for -
    @pytest.mark.barracuda(check=False)        # this one runs as without the plug-in
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

REPORTS = "BARRACUDA_PYTEST_REPORTS"  # the file in which the process of one test leaves pytest's reports
TOOL_FAILED = (64, 70)
NOT_CHECKED = 67
TALLY, LAUNCHES, FINDINGS, UNCHECKED = "barracuda", "launches", "findings", "unchecked"


def pytest_addoption(parser):
    group = parser.getgroup("barracuda", "races in CUDA kernels")
    group.addoption("--barracuda", action="store_true", help="check the kernels that each test launches")
    group.addoption("--barracuda-option", action="append", default=[], metavar="NAME=VALUE",
                    help="an option of barracuda run, for all tests (repeatable)")
    group.addoption("--barracuda-command", metavar="FILE", help="the barracuda command (default: beside this "
                    "plug-in, or on the PATH)")


def pytest_configure(config):
    config.addinivalue_line("markers", "barracuda(check=True, **options): how --barracuda checks this test")
    if REPORTS in os.environ:
        config.pluginmanager.register(Recorder(config), "barracuda-recorder")
    elif config.getoption("--barracuda"):
        config.pluginmanager.register(Checker(config), "barracuda-checker")


class Recorder:
    """In the process of one test: hands pytest's reports to the process that started it."""

    def __init__(self, config):
        self.config = config

    def pytest_runtest_logreport(self, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(os.environ[REPORTS], "a", encoding="utf-8") as file:
            file.write(json.dumps(data, default=str) + "\n")


def find_command(config):
    own = Path(__file__).resolve()
    # Of share/barracuda/python, and in a wheel.
    beside = [path for path in (own.parents[3] / "bin/barracuda", own.parent / "barracuda/bin/barracuda") if path.exists()]
    command = config.getoption("--barracuda-command") or (str(beside[-1]) if beside else shutil.which("barracuda"))
    if command is None:
        raise pytest.UsageError("--barracuda: there is no barracuda command on the PATH (--barracuda-command)")
    return command


class Checker:
    def __init__(self, config):
        self.config = config
        self.command = find_command(config)
        self.tests = {}  # by name: which of LAUNCHES, FINDINGS and UNCHECKED it has

    def pytest_runtest_logreport(self, report):
        # Properties of reports, because pytest-xdist makes these in other processes than that which counts.
        for name, words in report.user_properties:
            if name == TALLY:
                self.tests[report.nodeid] = words.split()

    def pytest_terminal_summary(self, terminalreporter):
        if not self.tests:
            return
        counts = {word: sum(word in words for words in self.tests.values()) for word in (LAUNCHES, FINDINGS)}
        unchecked = [name for name, words in self.tests.items() if UNCHECKED in words]
        terminalreporter.section("BARRACUDA")
        terminalreporter.line(f"{counts[LAUNCHES]} of {len(self.tests)} checked tests launched kernels, {counts[FINDINGS]} with findings")
        if unchecked:
            terminalreporter.line("launched kernels that were not checked (-rA shows why, --barracuda-option strict=1 fails them): "
                                  + ", ".join(unchecked))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        mark = item.get_closest_marker("barracuda")
        options = dict(mark.kwargs) if mark is not None else {}
        if not options.pop("check", True):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self.check(item, options):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def check(self, item, options):
        """pytest's reports of one test, with what the tool found in them."""
        # One word each: a flag takes no value from the next.
        words = ["--" + option for option in self.config.getoption("--barracuda-option")]
        for name, value in options.items():
            words.append(f"--{name.replace('_', '-')}={int(value) if isinstance(value, bool) else value}")
        with tempfile.TemporaryDirectory(prefix="barracuda-pytest-") as scratch:
            reports, text = Path(scratch) / "reports", Path(scratch) / "findings.txt"
            findings = Path(scratch) / "findings.jsonl"
            command = [self.command, "run", "--json", str(findings), "--log-file", str(text), *words, "--",
                       sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", __name__,
                       "--rootdir", str(self.config.rootpath), *self.inherited(), item.nodeid]
            paths = [str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")]
            ended = subprocess.run(command, cwd=self.config.rootpath, capture_output=True, text=True, check=False,
                                   env={**os.environ, REPORTS: str(reports),
                                        "PYTHONPATH": os.pathsep.join(filter(None, paths))})
            made = self.reports_in(reports)
            report = text.read_text(errors="replace") if text.exists() else ""
            found = [json.loads(line) for line in findings.read_text().splitlines()] if findings.exists() else []
        summary = next((f for f in found if f["type"] == "summary"), {})
        findings = [f for f in found if f["type"] != "summary"]
        launches = summary.get("launches", 0)
        is_unchecked = ended.returncode == NOT_CHECKED and launches and self.is_strict(words)
        judged = self.judged(item, made, ended, report, findings or is_unchecked)
        tally = {LAUNCHES: launches, FINDINGS: findings, UNCHECKED: launches and summary["program_coverage"] != "complete"}
        judged[-1].user_properties.append((TALLY, " ".join(word for word, holds in tally.items() if holds)))
        return judged

    @staticmethod
    def is_strict(words):
        given = {name: value for name, _, value in (word.partition("=") for word in words)}
        return any(given.get(option, "0") not in ("0", "false", "no", "off") for option in ("--strict", "--strict-libraries"))

    def inherited(self):
        if self.config.inipath is not None:
            yield from ("-c", str(self.config.inipath))

    def reports_in(self, file):
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        made = []
        for line in lines:
            report = self.config.hook.pytest_report_from_serializable(config=self.config, data=json.loads(line))
            if isinstance(report, pytest.TestReport):
                # JSON has no tuples, and pytest asks for them.
                report.location = tuple(report.location)
                report.sections = [tuple(section) for section in report.sections]
                report.user_properties = [tuple(each) for each in report.user_properties]
                if isinstance(report.longrepr, list):
                    report.longrepr = tuple(report.longrepr)
                made.append(report)
        return made

    def judged(self, item, made, ended, text, is_wrong):
        # A test whose setup failed or was left out has no call.
        last = next((report for report in made if report.when == "call" or not report.passed), None)
        if last is None or ended.returncode in TOOL_FAILED:
            said = ended.stdout + ended.stderr + text
            why = (f"barracuda run ended with status {ended.returncode}, and the test has "
                   f"{'no' if last is None else 'a'} result:\n{said}")
            if last is None:
                last = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "call")
                made.append(last)
            last.outcome, last.longrepr = "failed", why
        elif is_wrong and last.passed:
            last.outcome, last.longrepr = "failed", text.lstrip("=\n")
        elif text:
            last.sections.append(("BARRACUDA", text))
        return made
