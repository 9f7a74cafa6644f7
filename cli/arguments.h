// The command line of `barracuda` as data. Every option of base/options.def is a flag of `run` and
// `kernel` with the same name, checked by the same rules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/options.h"

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
  // The options that are not to be the recorded run's, by name.
  std::vector<std::pair<std::string, std::string>> options;
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

// Nothing to do but to say something: help, a version, or what is wrong with the arguments.
struct Message {
  std::string text;
  bool is_error = false;  // to stderr, exit status 64
};

using Command = std::variant<Message, RunCommand, ExtractCommand, InstrumentCommand, KernelCommand,
                             ReplayCommand, MergeCommand, ReportCommand, StatusCommand>;

// `environment_options` is the value of BARRACUDA_OPTIONS.
Command parse_arguments(const std::vector<std::string>& arguments,
                        const std::string& environment_options);

}  // namespace barracuda::cli
