#!/usr/bin/env python3
"""Runs the programs of a corpus under `barracuda run` and compares the verdicts with its labels.

    tools/run_corpus.py --table tools/corpora/scor.txt --corpus CHECKOUT --programs BUILT
    tools/run_corpus.py ... 'race_interwarp*'      those whose name fits one of the patterns

A corpus is anyone's folder of CUDA programs; BUILT holds what its own build made of it, with the shared
CUDA runtime, PTX and -lineinfo. None of its code is part of this tree, and nothing here builds it.
tools/corpus_table.py says how a table is written, docs/PROGRAMS.md what the tables of tools/corpora gave.
Prints the counts and every program that is not right in Markdown. Exit status 1 if a program is wrong,
hangs or does not run, 2 if there was nothing to run.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE / "tests/e2e"))
import program_runner as runner  # noqa: E402
from corpus_table import Expectation, TableError, read_table  # noqa: E402

OUTCOMES = ("right", "label is wrong", "false alarm", "miss", "other finding", "no label", "skipped", "not built",
            "not run", "not all checked", "timed out")
WRONG = ("false alarm", "miss", "other finding", "not run", "not all checked", "timed out")
# What is found, by the label that asks for it.
FINDINGS = {"race": "race", "divergence": "barrier-divergence", "error": "memory-error"}
# The tool ends a program at its limit and reports; this much longer, and the tool itself hangs.
GRACE_SECONDS = 30


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    source: Path
    binary: Path
    arguments: tuple
    expectation: Expectation


@dataclasses.dataclass(frozen=True)
class Run:
    """The findings' types, their lines in the source, and how the run itself went."""
    types: frozenset = frozenset()
    only_warnings: bool = False
    race_lines: tuple = ()
    complete: bool = False
    launched: bool = False
    timed_out: bool = False

    def verdict(self):
        found = sorted("warning" if kind == "race" and self.only_warnings else kind for kind in self.types)
        return ", ".join(found) or ("timed out" if self.timed_out else "none")


def find_programs(table, corpus, built, patterns):
    programs = []
    sources = {path for glob in table.sources for path in corpus.glob(glob) if path.is_file()}
    for source in sorted(sources):
        relative = source.relative_to(corpus)
        name = str(relative.with_suffix(""))
        if patterns and not any(fnmatch.fnmatchcase(name, "*" + pattern + "*") for pattern in patterns):
            continue
        names = {"corpus": corpus, "folder": relative.parent, "parent": relative.parent.name, "name": relative.stem}
        expectation = table.expectation(str(relative), source.read_text(errors="replace"))
        arguments = table.arguments if expectation.arguments is None else expectation.arguments
        programs.append(Program(name, source, built / table.program.format(**names),
                                tuple(word.format(**names) for word in arguments), expectation))
    return programs


def read_run(lines, source_name, timed_out):
    findings = lines[:-1] if lines and lines[-1]["type"] == "summary" else lines
    summary = lines[-1] if len(lines) != len(findings) else {}
    races = [finding for finding in findings if finding["type"] == "race"]
    return Run(
        types=frozenset(finding["type"] for finding in findings),
        only_warnings=all(race["severity"] == "warning" for race in races),
        race_lines=tuple(frozenset(line for file, line in map(runner.place, race["accesses"]) if file == source_name)
                         for race in races),
        complete=summary.get("coverage") == "complete", launched=summary.get("launches", 0) != 0,
        timed_out=timed_out)


def execute(command, folder, limit):
    """What it wrote on standard error, and whether it ended in time. Its children end with it."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
        try:
            return process.communicate(timeout=limit)[1], True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[1], False


def run_program(arguments, program):
    options = [*arguments.option, "time-limit=%d" % arguments.time_limit]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "findings.jsonl")
        text, ended = execute([*runner.tool_command(arguments.barracuda, arguments.device, options), "--json", report,
                               "--", str(program.binary), *program.arguments],
                              program.binary.parent, arguments.time_limit + GRACE_SECONDS)
        lines = runner.read_report(report)
    if arguments.reports:
        file = arguments.reports / (program.name.replace("/", "+") + ".txt")
        file.write_text(text)
    return read_run(lines, program.source.name, not ended or "(time-limit)" in text)


def is_seen(label, run, lines):
    """Whether the run shows just what the label says."""
    if label == "clean":
        return not run.types
    if FINDINGS[label] not in run.types:
        return False
    return label != "race" or not lines or all(places & lines for places in run.race_lines)


def judge(expectation, run):
    """One of OUTCOMES."""
    label = expectation.label
    if run.timed_out and (label in ("", "clean") or not run.types):
        return "timed out"
    if not run.launched and not run.types:
        return "not run"
    if not run.complete and not run.types:
        return "not all checked"  # that nothing was found says nothing
    if not label:
        return "no label"
    if expectation.ours and is_seen(expectation.ours, run, expectation.lines):
        return "label is wrong"
    if is_seen(expectation.ours or label, run, expectation.lines):
        return "right"
    if (expectation.ours or label) == "clean":
        return "false alarm"
    return "other finding" if run.types else "miss"


def examine(arguments, program):
    """The outcome, and the run if there was one."""
    if program.expectation.label == "skip":
        return "skipped", None
    if not os.access(program.binary, os.X_OK):
        return "not built", None
    run = run_program(arguments, program)
    return judge(program.expectation, run), run


def counts_of(results):
    counts = collections.Counter(outcome for _, outcome, _ in results)
    incomplete = sum(run is not None and not run.complete for _, _, run in results)
    cells = [(outcome, counts[outcome]) for outcome in OUTCOMES] + [("coverage incomplete", incomplete)]
    return [("programs", len(results))] + [(title, count) for title, count in cells if count]


def print_tables(corpus, results):
    counts = counts_of(results)
    print("\n| corpus |", " | ".join(title for title, _ in counts), "|")
    print("| --- |" + " ---: |" * len(counts))
    print("| %s |" % corpus, " | ".join(str(count) for _, count in counts), "|")
    told = [result for result in results if result[1] not in ("right", "not built", "skipped")]
    if told:
        print("\n| program | label | found | |\n| --- | --- | --- | --- |")
    for program, outcome, run in told:
        why = program.expectation.why
        print("| %s | %s | %s | %s |" % (program.name, program.expectation.label or "none", run.verdict(),
                                         outcome + (": " + why if why else "")))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True, help="a checkout of the suite")
    parser.add_argument("--programs", type=Path, help="where its programs lie (default: in the checkout)")
    parser.add_argument("--barracuda", default=str(TREE / "build/bin/barracuda"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE for run")
    parser.add_argument("--time-limit", type=int, default=60, help="seconds for each program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reports", type=Path, help="keep each text report in this folder")
    parser.add_argument("patterns", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    corpus = arguments.corpus.resolve()
    try:
        table = read_table(arguments.table.read_text(encoding="utf-8"), arguments.table)
    except (OSError, TableError) as error:
        sys.exit("run_corpus.py: %s" % error)
    if arguments.reports:
        arguments.reports.mkdir(parents=True, exist_ok=True)
    programs = find_programs(table, corpus, (arguments.programs or corpus).resolve(), arguments.patterns)
    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for program, (outcome, run) in zip(programs, pool.map(lambda p: examine(arguments, p), programs)):
            results.append((program, outcome, run))
            print("%s: %s%s" % (program.name, outcome, "" if run is None else " (%s)" % run.verdict()),
                  file=sys.stderr, flush=True)
    print_tables(arguments.table.stem, results)
    if all(run is None for _, _, run in results):
        print("run_corpus.py: nothing was run", file=sys.stderr)
        return 2
    return 1 if any(outcome in WRONG for _, outcome, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
