#include "session/execution_log.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

namespace barracuda::session {

void append_execution_log(const std::string& path, const emulator::ExecutionCounts& counts) {
  if (std::FILE* const file = std::fopen(path.c_str(), "ab"); file != nullptr) {
    const std::string line = fmt::format("launch {} warp instructions, {} fences\n",
                                         counts.warp_instructions, counts.fences);
    (void)std::fwrite(line.data(), 1, line.size(), file);
    (void)std::fclose(file);
  }
}

Expected<emulator::ExecutionCounts> parse_execution_log(std::string_view text) {
  emulator::ExecutionCounts all;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto take = [&line](std::string_view before, std::uint64_t& sum) {
      std::uint64_t number = 0;
      if (!line.starts_with(before)) {
        return false;
      }
      line.remove_prefix(before.size());
      const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
      sum += number;
      return error == std::errc{};
    };
    if (!take("launch ", all.warp_instructions) || !take(" warp instructions, ", all.fences) ||
        line != " fences") {
      return unexpected({.message = "no line of an execution log has that form"});
    }
  }
  return all;
}

}  // namespace barracuda::session
