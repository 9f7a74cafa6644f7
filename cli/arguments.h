// The command line of `barracuda` as data. Every option of base/options.def is a flag of `run` and
// `kernel` with the same name, checked by the same rules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/options.h"
#include "cli/explore_kernel.h"

namespace barracuda::cli {

struct RunCommand {
  Options options;  // BARRACUDA_OPTIONS, overridden by flags
  std::vector<std::string> program;
  // Not empty: the report goes there instead, for who runs the program several times (seeds.h).
  std::string report_file;
};

struct ExtractCommand {
  std::string file;
  std::string directory;  // empty: list only
};

struct InstrumentCommand {
  std::string file;
  std::string output;  // empty: stdout
  bool sites = false;  // print the site table instead
  bool reduce_in_block = true;
};

struct KernelCommand {
  std::string file;    // .ptx, or .cu where nvcc is found
  std::string kernel;  // empty: the only one in the file
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  // dynamic
  bool is_cooperative = false;
  std::vector<std::string> arguments;  // as parse_kernel_argument() takes them
  Options options;                     // as for `run`
  bool launches_here = false;          // this process is the program under `run`
};

struct ReplayCommand {
  std::string file;
  std::string litmus;  // file or folder for slices; empty: none
  // The options that are not to be the recorded run's, by name.
  std::vector<std::pair<std::string, std::string>> options;
};

// What the commands have in common that run a program many times with a weak memory.
struct WeakCommand {
  Options options;  // as for `run`
  std::vector<std::string> program;
  std::uint64_t time = 600;    // seconds for all of it
  std::string check;           // a command of the shell, %o is the file with the output
  std::string compare_output;  // empty: where it is the same in each run; stdout, none, or a file
  int expect_status = 0;
  bool stores_only = false;
};

struct ExposeCommand : WeakCommand {
  std::uint64_t runs = 40;  // of each random stage
  std::uint64_t per_race = 20;
  std::vector<double> probabilities = {1, 0.75, 0.5, 0.25};
  std::string plan;  // empty: PROGRAM.weakness
  bool random = false, all = false, no_root_cause = false;
  bool stress = false;  // on a GPU, beside delays
  bool flush_lengths = false;
};

struct FixCommand : WeakCommand {
  std::uint64_t seeds = 8;     // schedules behind each answer
  std::uint64_t per_race = 8;  // directed runs, before and after
  std::string diff;            // file for it; empty: none
  std::string ptx_folder;      // for the patched PTX; empty: none
  std::string litmus;          // file or folder for slices; empty: none
  bool write = false;          // into the program's own source files
  bool no_barriers = false;
};

struct HardenCommand : WeakCommand {
  std::uint64_t iterations = 32;  // runs behind each answer, at first
  std::uint64_t stable = 500;     // runs without a failure at the end
  std::uint64_t jobs = 0;         // runs at a time; 0: one a core, and four on a GPU
  bool keep_fences = false;
  bool cost = false;
  bool stress = false;  // on a GPU, beside delays
  std::string fences;   // file for what is found; empty: none
};

struct ReportCommand {
  std::string directory;  // empty: of the last run that was killed
  std::string json, log_file;
};

struct StatusCommand {
  std::string directory;  // empty: of all runs that are under way
};

struct MergeCommand {
  std::vector<std::string> files;
  Options options;
};

struct ExploreCommand {
  std::vector<std::string> files;  // .litmus, or what has kernels
  ExploredKernel kernel;
  std::string model;                 // memory_model/models.h; empty: the newest of PTX
  std::vector<std::string> compare;  // models, instead
  std::string expect;                // "0", "1", or a file with a verdict a line; empty: nothing
  std::string dot, svg, json;        // files to write
  std::uint64_t states = 10'000'000;
  std::optional<std::uint64_t> memory_mib;  // of models with states
  double seconds = 60;                      // for each test and model
  std::uint32_t unroll = 4;
  // As ExploreOptions has them.
  bool exact = false, symmetry = false, shortest = false, lockstep = false, progress = false;
  bool dat3m = false;  // the files are in Dat3M's dialect
};

// More would not fit into a job array of any Slurm.
inline constexpr std::uint64_t kMostTasks = 1'000'000;

struct CampaignWriteCommand {
  std::string folder;
  std::uint64_t tasks = 0;         // at most; 0: as many as suit the command
  std::string lines;               // a file of commands, instead of `words`
  std::vector<std::string> words;  // the command to divide
  std::string environment_options;
};

// `run`, `status` and `result` of a campaign: the program in share/barracuda/campaign reads these.
struct CampaignProgramCommand {
  std::vector<std::string> words;
};

struct LitmusCommand {
  std::vector<std::string> files;  // .litmus
  std::string device = "auto";     // auto, gpu, cpu
  // As many as the device does in a moment, if not given.
  std::optional<std::uint32_t> iterations, launches;
  std::optional<std::uint32_t> distance;  // words; of the parameters if not given
  std::string stress = "tuned";  // tuned, none, or a kind (weak_memory/stress_parameters.h)
  std::uint64_t seed = 1;
  std::string json;
  bool no_delays = false;  // emulated device
};

struct TuneCommand {
  std::uint64_t time = 55;  // seconds
  bool full = false;
  std::uint64_t seed = 1;
  std::string out, csv;  // files; out empty: where litmus looks
};

struct DoctorCommand {
  Options options;                   // BARRACUDA_OPTIONS, and --device
  std::vector<std::string> program;  // empty: the machine alone
};

// Nothing to do but to say something: help, a version, or what is wrong with the arguments.
struct Message {
  std::string text;
  bool is_error = false;  // to stderr, exit status 64
};

using Command =
    std::variant<Message, RunCommand, ExtractCommand, InstrumentCommand, KernelCommand,
                 ReplayCommand, MergeCommand, ReportCommand, StatusCommand, ExposeCommand,
                 HardenCommand, ExploreCommand, LitmusCommand, TuneCommand, CampaignWriteCommand,
                 CampaignProgramCommand, FixCommand, DoctorCommand>;

// "run", "kernel" …: all that help knows.
std::vector<std::string> command_names();

// `environment_options` is the value of BARRACUDA_OPTIONS.
Command parse_arguments(const std::vector<std::string>& arguments,
                        const std::string& environment_options);

}  // namespace barracuda::cli
