// Events of one stream → a trace file. After the first error it writes nothing more and keeps the
// error. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/event.h"
#include "trace/trace_file.h"

namespace barracuda::trace {

class Writer {
 public:
  // `stream` is unlike that of any other writer to the same file.
  Writer(TraceFile file, std::uint64_t stream);

  template <typename Kind>
  void put(const Kind& event) {
    if (!error_) {
      encode(event, events_);
      if (events_.size() >= kBlockBytes) {
        flush();
      }
    }
  }

  // What was put so far becomes part of the file.
  void flush();

  [[nodiscard]] bool is_empty() const { return events_.empty(); }

  [[nodiscard]] const std::optional<Diagnostic>& error() const { return error_; }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  void write_events();

  TraceFile file_;
  std::uint64_t stream_ = 0;
  std::uint32_t number_ = 0;
  std::vector<std::byte> events_;
  std::optional<Diagnostic> error_;
};

// Unlike any other process's, and another one each time.
std::uint64_t new_stream();

}  // namespace barracuda::trace
