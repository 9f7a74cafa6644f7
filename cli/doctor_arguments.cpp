#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "Looks at the driver, the tool's own files and folders, and with a program at its file and "
    "its\n"
    "libraries: which kernels have PTX, which have source lines, which runtime they need. Runs\n"
    "nothing of the program. BARRACUDA_OPTIONS holds as for run.\n"
    "Exit status: 0 nothing is in the way; 67 something is; 64 bad option; 126, 127 the program\n"
    "may not be executed, or is not found.\n"
    "\n"
    "  barracuda doctor\n"
    "  barracuda doctor -- ./app input.dat\n";

}  // namespace

Command parse_doctor(const std::vector<std::string>& words,
                     const std::string& environment_options) {
  CLI::App app(kDoctorDescription, "doctor");
  DoctorCommand command;
  std::vector<std::string> shown_only;
  app.set_help_flag("--help,-h", "print this help");
  app.footer(kFooter);
  std::string device;
  app.add_option("--device", device, "where kernels are to run: auto, gpu, cpu (default: auto)");
  // For the help text only: the program's words are its own.
  app.add_option("PROGRAM", shown_only, "the program and its arguments, after --");
  const auto end = std::ranges::find(words, "--");
  if (end != words.end()) {
    command.program.assign(end + 1, words.end());
  }
  if (auto message = parse_flags(app, {words.begin(), end})) {
    return *std::move(message);
  }
  if (command.program.empty()) {
    command.program = shown_only;
  }
  if (auto parsed = parse_options(command.options, environment_options); !parsed) {
    return usage_error("BARRACUDA_OPTIONS: " + parsed.error().message, "doctor");
  }
  if (!device.empty()) {
    if (auto set = set_option(command.options, "device", device); !set) {
      return usage_error(set.error().message, "doctor");
    }
  }
  return command;
}

}  // namespace barracuda::cli
