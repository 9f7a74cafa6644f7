"""`barracuda campaign run`, `status` and `result`; `barracuda campaign write` is cli/campaign.cpp."""

import argparse
import signal
import sys
import time

from folder import BAD_OPTION, TOOL_FAILED, Campaign, CampaignError
from progress import Progress, time_left, time_text
from result import outcome_of
from runner import RunnerLost, Supervision, death_text

RETRIES = 2

EXIT_STATUS = """\
Exit status: the worst of the tasks': 64 bad option or test, 70 the tool failed, 66 findings, 67 something has
no answer (a bound was hit, a task was given up or has no result yet), 0 none of these.
"""
RUN_EXAMPLES = EXIT_STATUS + """
  barracuda campaign run FOLDER
  barracuda campaign run FOLDER --runner slurm --sbatch=--time=2:00:00 --sbatch=--cpus-per-task=4
  barracuda campaign run FOLDER --runner dask --scheduler tcp://head:8786
  barracuda campaign run FOLDER --runner dask --scheduler slurm --jobs 20
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print("barracuda: %s (see %s --help)" % (message, self.prog), file=sys.stderr)
        sys.exit(BAD_OPTION)


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def natural(text):
    number = int(text)
    if number < 0:
        raise ValueError
    return number


positive.__name__, natural.__name__ = "number above 0", "number"


def parse(words):
    parser = Parser(prog="barracuda campaign", allow_abbrev=False)
    parser.add_argument("--barracuda", required=True, help=argparse.SUPPRESS)
    parts = parser.add_subparsers(dest="part", required=True, parser_class=Parser)

    def part(name, text, **more):
        added = parts.add_parser(name, description=text, allow_abbrev=False,
                                 formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        added.add_argument("folder", metavar="FOLDER", help="what barracuda campaign write has written")
        return added

    run = part("run", "Runs the tasks that have no result yet, and repeats those that die.", epilog=RUN_EXAMPLES)
    run.add_argument("--runner", choices=("local", "slurm", "dask"), default="local",
                     help="processes of this machine (the default), job arrays of Slurm, or tasks of a Dask cluster")
    run.add_argument("--jobs", type=positive, metavar="N",
                     help="tasks at a time. local: as many as there are cores for explore, else 1, for the others use "
                          "all cores themselves; slurm: no limit; dask: jobs to ask the batch system for (1)")
    run.add_argument("--retries", type=natural, default=RETRIES, metavar="N",
                     help="how often a task that died is repeated (%d)" % RETRIES)
    run.add_argument("--scheduler", metavar="WHERE",
                     help="dask: the address of a scheduler, its file (.json), or a batch system, with dask-jobqueue: "
                          "slurm, pbs, sge, lsf, htcondor, oar, moab")
    run.add_argument("--sbatch", action="append", default=[], metavar="OPTION",
                     help="slurm: an option for sbatch, as --sbatch=--partition=gpu; as often as needed")
    part("status", "How far a campaign is.")
    result = part("result", "One report of all results, as JSON Lines; the last line is the campaign's.",
                  epilog=EXIT_STATUS)
    result.add_argument("--json", metavar="FILE", help="write it to this file instead of standard output")
    given = parser.parse_args(words)
    if given.part == "run":
        for flag, runner in (("scheduler", "dask"), ("sbatch", "slurm")):
            if getattr(given, flag) and given.runner != runner:
                run.error("--%s is for --runner %s" % (flag, runner))
    return given


def make_runner(given, campaign):
    if given.runner == "slurm":
        from slurm_runner import SlurmRunner
        return SlurmRunner(given.barracuda, campaign, given.jobs, given.sbatch)
    if given.runner == "dask":
        from dask_runner import DaskRunner
        return DaskRunner(given.barracuda, campaign, given.scheduler, given.jobs)
    from local_runner import LocalRunner
    return LocalRunner(given.barracuda, campaign, given.jobs)


class Interrupted(BaseException):
    pass


def interrupt(number, _):
    raise Interrupted(signal.Signals(number).name)


def run(given, campaign):
    campaign.lock()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, interrupt)
    progress = Progress()
    try:
        runner = make_runner(given, campaign)
        supervision = Supervision(campaign, runner, given.retries, progress)
        left = len(campaign.tasks) - len(campaign.answered())
        progress.say("%d tasks, %d of them without a result; %s" % (len(campaign.tasks), left, runner.describe()))
        supervision.execute()
    except RunnerLost as lost:
        progress.say("%s; barracuda campaign run %s goes on from here" % (lost, given.folder))
    except Interrupted as signal_name:
        progress.say("interrupted by %s; barracuda campaign run %s goes on from here" % (signal_name, given.folder))
    outcome = outcome_of(campaign)
    sys.stderr.write(outcome.text)
    return outcome.status


def status(campaign):
    answered = campaign.answered()
    under_way = [attempt for task in sorted(set(campaign.tasks) - answered)
                 for attempt in campaign.attempts_of(task)[-1:] if attempt.started and not attempt.ended]
    events = campaign.events()
    given_up = {event["task"] for event in events if event["event"] == "given up"} - answered
    print("%d of %d tasks have a result" % (len(answered), len(campaign.tasks)))
    for event in events:
        if event["event"] == "died":
            print("task %d died: %s" % (event["task"], death_text(event)))
    for task in sorted(given_up):
        print("task %d is given up" % task)
    for attempt in under_way:
        if attempt.task not in given_up:
            print("task %d is under way on %s since %s" % (attempt.task, attempt.started["host"],
                                                          time_text(time.time() - attempt.started["time"])))
    left = len(campaign.tasks) - len(answered) - len(given_up)
    begun = [event["time"] for event in events if event["event"] == "run"]
    if left and begun:
        ended = [campaign.result_path(task).stat().st_mtime for task in answered]
        done = sum(each >= begun[-1] for each in ended)
        estimate = time_left(done, left, time.time() - begun[-1])
        print("no estimate yet" if estimate is None else "about %s left, if it is being run" % time_text(estimate))
    return 0


def result(given, campaign):
    outcome = outcome_of(campaign)
    text = "".join(outcome.lines)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    sys.stderr.write(outcome.text)
    return outcome.status


def main():
    given = parse(sys.argv[1:])
    try:
        campaign = Campaign(given.folder)
        if given.part == "run":
            return run(given, campaign)
        return status(campaign) if given.part == "status" else result(given, campaign)
    except CampaignError as error:
        print("barracuda: %s" % error, file=sys.stderr)
        return BAD_OPTION
    except OSError as error:
        print("barracuda: %s" % error, file=sys.stderr)
        return TOOL_FAILED


if __name__ == "__main__":
    sys.exit(main())
