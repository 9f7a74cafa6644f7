// A copy or a memset that the host asked for: accesses by the host's own hand, to rows of bytes, in
// the order of a stream (RACE_RULES section 1, Launches). It has a place among the launches. So has
// an allocation or a free in the order of a stream, which is a write of all its bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "host_detector/launch.h"

namespace barracuda::detector {

// Which call of the program: the same for repeats of it.
enum class CallId : std::uint32_t {};

enum class HostOperation : std::uint8_t {
  kCopy,
  kMemset,
  kConstants,  // a kernel, launched just after it, that may read these constants: not a record each
  kAllocation,
  kFree
};

struct MemoryRows {
  std::uint64_t address = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t pitch = 0;  // from row to row
  std::uint64_t rows = 1;
  bool is_written = false;

  friend bool operator==(const MemoryRows&, const MemoryRows&) = default;
};

struct CopyInfo {
  CopyId id{};
  HostOperation operation = HostOperation::kCopy;
  CallId call{};
  // As for launches; its own id among them says that it continues copies that have begun.
  std::vector<WorkId> ordered_after;
  // What the host has waited for: everything that is begun from now on comes after these.
  std::vector<WorkId> host_waited;
  std::vector<MemoryRows> accesses;  // of an allocation or a free, its one range
  // Of an allocation: the frees of its bytes, which the allocator knows to be over. They are
  // applied before it; of other memory they order nothing.
  std::vector<CopyId> freed_by;
};

}  // namespace barracuda::detector
