// A small language for detector tests: threads of launches that read, write, fence and meet, with a
// site for every instruction, and questions about what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "host_detector/detector.h"

namespace barracuda::detector::test {

using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;
using wire::SiteId;
using wire::SiteInfo;

inline constexpr std::uint64_t kData = 0x1000, kFlag = 0x2000;
inline constexpr std::uint32_t kAll = ~std::uint32_t{0};

inline std::uint64_t shared(std::uint64_t offset) {
  return wire::tagged_address(wire::AddressSpace::kShared, offset);
}

inline SiteInfo word(Operation operation, MemoryOrder order = MemoryOrder::kWeak,
                     Scope scope = Scope::kSys) {
  SiteInfo site{.operation = operation, .order = order, .scope = scope};
  site.element_bytes = 4;
  site.element_count = 1;
  return site;
}

// Lanes of one warp.
struct Who {
  LaunchId launch{1};
  std::uint32_t cta = 0;
  std::uint8_t warp = 0;
  std::uint32_t mask = 1;
};

class Scenario {
 public:
  explicit Scenario(const DetectorOptions& options = {})
      : owned_(make_detector(options)), detector(*owned_) {}

  // One launch.
  Scenario(std::uint32_t ctas, std::uint32_t threads) : Scenario() { launch(ctas, threads); }

  LaunchId launch(std::uint32_t ctas, std::uint32_t threads, std::vector<WorkId> after = {}) {
    LaunchInfo info{.id = LaunchId{++launches_}};
    info.grid.x = ctas;
    info.block.x = threads;
    info.ordered_after = std::move(after);
    detector.begin_launch(info);
    return info.id;
  }

  // May begin while `prerequisite` runs, if that one lets it.
  LaunchId launch_programmatic(std::uint32_t ctas, std::uint32_t threads, LaunchId prerequisite) {
    LaunchInfo info{.id = LaunchId{++launches_}};
    info.grid.x = ctas;
    info.block.x = threads;
    info.ordered_after = {prerequisite};
    info.prerequisite = prerequisite;
    info.prerequisite_over = end_of(prerequisite);
    detector.begin_launch(info);
    return info.id;
  }

  static WorkId end_of(LaunchId prerequisite) {
    return CopyId{1000 + static_cast<std::uint32_t>(prerequisite)};
  }

  void let_dependents_begin(const Who& who) {
    event(who, {.operation = Operation::kLaunchDependents});
  }

  void grid_wait(const Who& who) { event(who, {.operation = Operation::kGridWait}); }

  SiteId access(const Who& who, const SiteInfo& site, std::uint64_t address,
                std::int64_t stride = 0) {
    WarpOperation operation = start(who, site, RecordKind::kAffine);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      operation.lanes[lane].address = address + static_cast<std::uint64_t>(lane * stride);
    }
    detector.apply(operation);
    return operation.site;
  }

  SiteId read(const Who& who, std::uint64_t address, std::int64_t stride = 0) {
    return access(who, word(Operation::kRead), address, stride);
  }

  SiteId write(const Who& who, std::uint64_t address, std::int64_t stride = 0) {
    return access(who, word(Operation::kWrite), address, stride);
  }

  // The same instruction by somebody else.
  void read_again(const Who& who, SiteId site, std::uint64_t address) {
    WarpOperation operation = by(who, RecordKind::kAffine);
    operation.site = site;
    for (LaneAccess& lane : operation.lanes) {
      lane.address = address;
    }
    detector.apply(operation);
  }

  // Numbered accesses of one lane or of several that do the same.
  SiteId store(const Who& who, const SiteInfo& site, std::uint64_t address, std::uint64_t value) {
    WarpOperation operation = start(who, site, RecordKind::kRelease);
    for (LaneAccess& lane : operation.lanes) {
      lane = {.address = address,
              .value_read = 0,
              .value_written = value,
              .flags = wire::kLaneHasWritten};
    }
    detector.apply(operation);
    return operation.site;
  }

  SiteId load(const Who& who, const SiteInfo& site, std::uint64_t address, std::uint64_t value) {
    WarpOperation operation = start(who, site, RecordKind::kAcquire);
    for (LaneAccess& lane : operation.lanes) {
      lane = {.address = address, .value_read = value, .value_written = 0, .flags = 0};
    }
    detector.apply(operation);
    return operation.site;
  }

  // An atomic that reads one value and writes another (nothing: a failed CAS).
  SiteId atomic(const Who& who, const SiteInfo& site, std::uint64_t address, std::uint64_t read,
                std::optional<std::uint64_t> written) {
    return atomic(start(who, site, RecordKind::kRelease), address, read, written);
  }

  // The same instruction by somebody else.
  SiteId atomic_again(const Who& who, SiteId site, std::uint64_t address, std::uint64_t read,
                      std::optional<std::uint64_t> written) {
    WarpOperation operation = by(who, RecordKind::kRelease);
    operation.site = site;
    return atomic(operation, address, read, written);
  }

  // 0 bytes: a free.
  void heap(const Who& who, std::uint64_t pointer, std::uint64_t bytes) {
    WarpOperation operation = start(who, {.operation = Operation::kHeap}, RecordKind::kRelease);
    for (LaneAccess& lane : operation.lanes) {
      lane = {.address = wire::kHeapOrder, .value_read = pointer, .value_written = bytes};
    }
    detector.apply(operation);
  }

  void fence(const Who& who, Scope scope, MemoryOrder order = MemoryOrder::kAcqRel) {
    event(who, {.operation = Operation::kFence, .order = order, .scope = scope});
  }

  void barrier(const Who& who, std::uint32_t id = 0, std::uint32_t threads = 0) {
    event(who, {.operation = Operation::kBarrier}, id, threads);
  }

  void barrier_arrive(const Who& who, std::uint32_t id, std::uint32_t threads) {
    event(who, {.operation = Operation::kBarrierArrive}, id, threads);
  }

  void sync_warp(const Who& who, std::uint32_t members) {
    event(who, {.operation = Operation::kWarpBarrier}, members);
  }

  SiteId call(const Who& who) { return event(who, {.operation = Operation::kCall}); }

  void leave(const Who& who) { event(who, {.operation = Operation::kReturn}); }

  void exit(const Who& who) { event(who, {.operation = Operation::kExit}); }

  SiteId event(const Who& who, const SiteInfo& site, std::uint32_t operand = 0,
               std::uint32_t count = 0) {
    WarpOperation operation = start(who, site, RecordKind::kEvent);
    operation.event_operand = operand;
    operation.event_count = count;
    detector.apply(operation);
    return operation.site;
  }

  WarpOperation start(const Who& who, const SiteInfo& site, RecordKind kind) {
    WarpOperation operation = by(who, kind);
    operation.site = SiteId{sites_++};
    detector.add_sites(operation.site, {&site, 1});
    return operation;
  }

  [[nodiscard]] const std::vector<RaceEvent>& races() const { return detector.findings().races; }

  [[nodiscard]] bool is_clean() const { return races().empty() && detector.rejected() == 0; }

  [[nodiscard]] bool has_only(Severity severity) const {
    return races().size() == 1 && races()[0].severity == severity && detector.rejected() == 0;
  }

 private:
  std::unique_ptr<Detector> owned_;

 public:
  Detector& detector;

 private:
  static WarpOperation by(const Who& who, RecordKind kind) {
    WarpOperation operation;
    operation.kind = kind;
    operation.launch = who.launch;
    operation.cta = who.cta;
    operation.warp = who.warp;
    operation.mask = who.mask;
    return operation;
  }

  SiteId atomic(WarpOperation operation, std::uint64_t address, std::uint64_t read,
                std::optional<std::uint64_t> written) {
    for (LaneAccess& lane : operation.lanes) {
      lane = {.address = address, .value_read = read, .value_written = written.value_or(0)};
      lane.flags = written ? wire::kLaneHasRead | wire::kLaneHasWritten : wire::kLaneVoid;
    }
    detector.apply(operation);
    operation.kind = RecordKind::kAcquire;
    detector.apply(operation);
    return operation.site;
  }

  std::uint32_t launches_ = 0;
  std::uint32_t sites_ = 0;
};

}  // namespace barracuda::detector::test
