#include "cli/campaign_arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "  write FOLDER -- COMMAND   divide a command into tasks, in a folder that all machines see\n"
    "  run FOLDER                run those without a result: here, by Slurm, or on a Dask cluster\n"
    "  status FOLDER             how far it is\n"
    "  result FOLDER             all results as one report\n"
    "Each has --help. run, status and result are written in Python: they need python3, 3.9 or "
    "newer.\n"
    "\n"
    "  barracuda campaign write all -- explore --memory-model ptx tests/litmus/*/*.litmus\n"
    "  barracuda campaign run all\n"
    "  barracuda campaign result all --json all.jsonl\n";

constexpr const char* kWriteFooter =
    "COMMAND is explore, expose, harden or litmus with its arguments. explore is divided by its "
    "tests; expose\n"
    "by --runs, --per-race and seeds, so that all tasks together make the runs that were asked "
    "for;\n"
    "harden's tasks are the same search with other seeds. A line of --lines is such a command, "
    "its\n"
    "words quoted as for a shell: each is a task as it stands.\n"
    "\n"
    "  barracuda campaign write all -- explore --compare weak,ptx *.litmus\n"
    "  barracuda campaign write fails --tasks 100 -- expose --runs 10000 -- ./app input.dat\n"
    "  barracuda campaign write programs --lines commands.txt\n";

constexpr const char* kWriteDescription = "divide a command into the tasks of a campaign";

constexpr CampaignFlag kHelp = {.names = "-h,--help", .meaning = "show this help message and exit"};
constexpr CampaignFlag kRunFlags[] = {
    kHelp,
    {.names = "--runner",
     .meaning = "processes of this machine (the default), job arrays of Slurm, or tasks of a Dask "
                "cluster",
     .choices = "local slurm dask"},
    {.names = "--jobs",
     .meaning = "tasks at a time. local: as many as there are cores for explore, else 1, for the "
                "others use all cores themselves; slurm: no limit; dask: jobs to ask the batch "
                "system for (1)"},
    {.names = "--retries", .meaning = "how often a task that died is repeated (2)"},
    {.names = "--scheduler",
     .meaning = "dask: the address of a scheduler, its file (.json), or a batch system, with "
                "dask-jobqueue: slurm, pbs, sge, lsf, htcondor, oar, moab"},
    {.names = "--sbatch",
     .meaning = "slurm: an option for sbatch, as --sbatch=--partition=gpu; as often as needed"},
};
constexpr CampaignFlag kStatusFlags[] = {kHelp};
constexpr CampaignFlag kResultFlags[] = {
    kHelp,
    {.names = "--json", .meaning = "write it to this file instead of standard output"},
};

constexpr CampaignPart kParts[] = {
    {.name = "write", .usage = "", .description = kWriteDescription, .flags = {}},
    {.name = "run",
     .usage = "barracuda campaign run [OPTIONS] FOLDER",
     .description = "Runs the tasks that have no result yet, and repeats those that die.",
     .flags = kRunFlags},
    {.name = "status",
     .usage = "barracuda campaign status FOLDER",
     .description = "How far a campaign is.",
     .flags = kStatusFlags},
    {.name = "result",
     .usage = "barracuda campaign result [OPTIONS] FOLDER",
     .description = "One report of all results, as JSON Lines; the last line is the campaign's.",
     .flags = kResultFlags},
};

// What stands behind -- is the command to divide.
Command parse_write(const std::vector<std::string>& words, const std::string& environment_options) {
  CampaignWriteCommand command{.environment_options = environment_options};
  CLI::App app(kWriteDescription, "write");
  app.set_help_flag("--help,-h", "print this help");
  app.footer(kWriteFooter);
  app.add_option("FOLDER", command.folder, "a new folder, on a file system that all machines share")
      ->required();
  app.add_option("--tasks", command.tasks,
                 "how many tasks, at most (default: explore one a test, expose one for 40 runs, "
                 "harden one)")
      ->check(CLI::Range(std::uint64_t{1}, kMostTasks));
  app.add_option("--lines", command.lines, "a file of commands, one a line, instead of COMMAND");
  const auto mark = std::ranges::find(words, "--");
  if (auto message = parse_flags(app, {words.begin(), mark}, "barracuda campaign")) {
    return *std::move(message);
  }
  if (mark != words.end()) {
    command.words.assign(mark + 1, words.end());
  }
  if (command.words.empty() == command.lines.empty()) {
    return usage_error(
        command.lines.empty()
            ? "no command to divide: barracuda campaign write FOLDER -- explore FILE..."
            : "either --lines or a command behind --, not both",
        "campaign write");
  }
  if (!command.lines.empty() && command.tasks != 0) {
    return usage_error("--tasks: each line of --lines is a task", "campaign write");
  }
  return command;
}

}  // namespace

std::span<const CampaignPart> campaign_parts() {
  return kParts;
}

Command parse_campaign(const std::vector<std::string>& words,
                       const std::string& environment_options) {
  const std::string part = words.empty() ? "" : words.front();
  if (part == "write") {
    return parse_write({words.begin() + 1, words.end()}, environment_options);
  }
  if (std::ranges::find(kParts, part, &CampaignPart::name) != std::end(kParts)) {
    return CampaignProgramCommand{.words = words};
  }
  if (part == "--help" || part == "-h") {
    return Message{.text = fmt::format("{}\nUsage: barracuda campaign PART FOLDER ...\n\n{}",
                                       kCampaignDescription, kFooter)};
  }
  return usage_error(part.empty() ? "campaign needs write, run, status or result"
                                  : fmt::format("campaign: there is no '{}'; there are write, run, "
                                                "status and result",
                                                part),
                     "campaign");
}

}  // namespace barracuda::cli
