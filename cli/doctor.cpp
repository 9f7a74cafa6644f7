#include "cli/doctor.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/driver_presence.h"
#include "cli/complain.h"
#include "cli/doctor_machine.h"
#include "cli/doctor_page.h"
#include "cli/doctor_program.h"
#include "cli/program_file.h"
#include "report/exit_status.h"

namespace barracuda::cli {
namespace {

constexpr int kNotFound = 127, kNotStarted = 126;  // as a shell says it

}  // namespace

int doctor(const DoctorCommand& command) {
  std::string file;
  if (!command.program.empty()) {
    const std::string& word = command.program.front();
    file = find_program(word);
    if (file.empty()) {
      std::error_code error;
      const bool is_there = std::filesystem::exists(word, error);
      complain(word + (is_there ? ": it may not be executed" : ": there is no such program"));
      return is_there ? kNotStarted : kNotFound;
    }
  }
  MachineReport machine = examine_machine(command.options);
  std::vector<DoctorSection> sections = {std::move(machine.section)};
  if (!file.empty()) {
    const bool is_emulated = command.options.device == "cpu" || !driver_is_present();
    auto program =
        examine_program(file, {.is_emulated = is_emulated, .arch = is_emulated ? 0 : machine.arch});
    std::ranges::move(program, std::back_inserter(sections));
  }
  const bool written =
      std::fputs(doctor_page(sections).c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!written) {
    return report::kStatusToolFailed;
  }
  return obstacles_of(sections) == 0 ? 0 : report::kStatusNotChecked;
}

}  // namespace barracuda::cli
