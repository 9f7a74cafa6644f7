// A pipeline on rings of its own, and the records of its tests: a few sites, one lane an operation.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host_detector/pipeline.h"
#include "tests/unit/host_detector/ring_writer.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

enum Site : std::uint32_t {
  kWriteSite,
  kReadSite,
  kReleaseSite,
  kAcquireSite,
  kExitSite,
  kFenceSite,
  kArriveSite,
  kWaitSite
};

inline std::vector<SiteInfo> sites() {
  return {word(Operation::kWrite),
          word(Operation::kRead),
          word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu),
          word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu),
          {.operation = Operation::kExit},
          {.operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu},
          {.operation = Operation::kClusterArrive, .order = MemoryOrder::kRelease},
          {.operation = Operation::kClusterWait, .order = MemoryOrder::kAcquire}};
}

inline WarpOperation operation(Site site, RecordKind kind, std::uint32_t cta,
                               std::uint64_t address = kData, std::uint32_t launch = 1) {
  WarpOperation made;
  made.kind = kind;
  made.launch = LaunchId{launch};
  made.site = SiteId{site};
  made.cta = cta;
  made.mask = 1;
  made.lanes[0].address = address;
  return made;
}

inline WarpOperation access(Site site, std::uint32_t cta, std::uint64_t address,
                            std::uint32_t launch = 1) {
  return operation(site, RecordKind::kScattered, cta, address, launch);
}

inline WarpOperation exit_of(std::uint32_t cta, std::uint32_t launch = 1) {
  return operation(kExitSite, RecordKind::kEvent, cta, 0, launch);
}

inline WarpOperation release_of(std::uint32_t cta, std::uint64_t value) {
  WarpOperation made = operation(kReleaseSite, RecordKind::kRelease, cta, kFlag);
  made.lanes[0].value_written = value;
  made.lanes[0].flags = wire::kLaneHasWritten;
  return made;
}

inline WarpOperation acquire_of(std::uint32_t cta, std::uint64_t value) {
  WarpOperation made = operation(kAcquireSite, RecordKind::kAcquire, cta, kFlag);
  made.lanes[0].value_read = value;
  return made;
}

inline LaunchInfo launch_of(std::uint32_t id, std::uint32_t ctas, std::vector<WorkId> after = {}) {
  LaunchInfo info{.id = LaunchId{id}};
  info.grid.x = ctas;
  info.ordered_after = std::move(after);
  return info;
}

struct Running {
  explicit Running(std::uint32_t queues = 2, std::uint32_t slots_log2 = 7,
                   const PipelineOptions& options = {})
      : memory(queues, slots_log2), pipeline(options) {
    pipeline.add_queues(memory.set());
    const auto all = sites();
    pipeline.add_sites(SiteId{0}, all);
  }

  RingMemory memory;
  Pipeline pipeline;
};

}  // namespace barracuda::detector::test
