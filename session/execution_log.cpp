#include "session/execution_log.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/number_text.h"

namespace barracuda::session {
namespace {

void append(const std::string& path, const std::string& line) {
  if (std::FILE* const file = std::fopen(path.c_str(), "ab"); file != nullptr) {
    (void)std::fwrite(line.data(), 1, line.size(), file);
    (void)std::fclose(file);
  }
}

// What is left of a line.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  // These words, and behind them a number, which is added.
  bool take(std::string_view before, std::uint64_t& sum) {
    if (!rest_.starts_with(before)) {
      return false;
    }
    rest_.remove_prefix(before.size());
    const auto number = take_number<std::uint64_t>(rest_);
    sum += number.value_or(0);
    return number.has_value();
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

constexpr std::string_view kNoEnergy = "energy not measured: ";

bool take_line(std::string_view line, ExecutionLog& log) {
  LineReader reader(line);
  if (line.starts_with(kNoEnergy)) {
    log.time.no_energy = line.substr(kNoEnergy.size());
    return true;
  }
  if (line.starts_with("launch ")) {
    return reader.take("launch ", log.counts.warp_instructions) &&
           reader.take(" warp instructions, ", log.counts.fences) && reader.rest() == " fences";
  }
  if (line.starts_with("energy ")) {
    std::uint64_t millijoules = log.time.millijoules.value_or(0);
    const bool is_good = reader.take("energy ", millijoules) && reader.rest() == " millijoules";
    log.time.millijoules = millijoules;
    return is_good;
  }
  return reader.take("timed ", log.time.launches) &&
         reader.take(" launches, ", log.time.nanoseconds) && reader.rest() == " nanoseconds";
}

}  // namespace

void append_execution_log(const std::string& path, const emulator::ExecutionCounts& counts) {
  append(path, fmt::format("launch {} warp instructions, {} fences\n", counts.warp_instructions,
                           counts.fences));
}

void append_execution_log(const std::string& path, const KernelTime& time) {
  append(path, fmt::format("timed {} launches, {} nanoseconds\n", time.launches, time.nanoseconds) +
                   (time.millijoules ? fmt::format("energy {} millijoules\n", *time.millijoules)
                                     : fmt::format("{}{}\n", kNoEnergy, time.no_energy)));
}

Expected<ExecutionLog> parse_execution_log(std::string_view text) {
  ExecutionLog log;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!take_line(line, log)) {
      return unexpected({.message = "no line of an execution log has that form"});
    }
  }
  return log;
}

}  // namespace barracuda::session
