#include "report/process_name.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include "base/number_text.h"

namespace barracuda::report {

std::int64_t rank_of_environment() {
  // RANK last: other programs than torchrun may mean something else by it.
  for (const char* const variable :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}) {
    const char* const value = std::getenv(variable);
    if (const auto rank = parse_number<std::uint32_t>(value == nullptr ? "" : value)) {
      return *rank;
    }
  }
  return Process::kNoRank;
}

std::string program_name() {
  char path[4096];
  // Of the process it cannot be read once the main thread is over.
  const ssize_t length = readlink("/proc/thread-self/exe", path, sizeof path);
  if (length <= 0) {
    return "?";
  }
  return std::filesystem::path(std::string(path, static_cast<std::size_t>(length))).filename();
}

Process this_process() {
  return {.program = program_name(), .pid = getpid(), .rank = rank_of_environment()};
}

}  // namespace barracuda::report
