// What one context's kernels log into: rings and read positions in pinned host memory, claim
// counters and order counters in device memory, and launch descriptors. Made and destroyed while
// its context is current. Not thread-safe: its owner serialises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/expected.h"
#include "base/options.h"
#include "device_logger/launch_descriptor.h"
#include "host_detector/pipeline.h"
#include "session/device_driver.h"
#include "session/state_memory.h"

namespace barracuda::session {

class DeviceArea {
 public:
  // Errors: a size that is no power of two, memory that cannot be had.
  static Expected<std::unique_ptr<DeviceArea>> create(DeviceDriver& driver, const Options& options);
  ~DeviceArea();
  DeviceArea(const DeviceArea&) = delete;
  DeviceArea& operator=(const DeviceArea&) = delete;

  // Whether what it makes has a table of sites that are logged no more. Not where all has to be
  // logged, and not under a seed: when a site falls silent depends on how far the host is.
  [[nodiscard]] static bool has_quiet_sites(const DeviceDriver& driver, const Options& options);

  [[nodiscard]] detector::QueueSet queues() const;

  // A descriptor of this area for one launch, null if no more memory can be had. The caller gives
  // it back when the launch is over.
  wire::LaunchDescriptor* acquire(std::uint32_t launch);
  void release(wire::LaunchDescriptor* descriptor);

  [[nodiscard]] StateMemory& states() { return states_; }

  // Where guarded forms of kernels note the site of an access that lies in none of their ranges.
  [[nodiscard]] std::uint64_t stray_address() const;
  // The site that was noted since the last call.
  [[nodiscard]] std::optional<wire::SiteId> take_stray();

 private:
  DeviceArea(DeviceDriver& driver, std::uint32_t queue_count, std::uint32_t slots_log2)
      : driver_(driver), queue_count_(queue_count), slots_log2_(slots_log2), states_(driver) {}

  bool allocate(bool has_quiet_sites);
  bool add_descriptors();
  [[nodiscard]] bool has(const wire::LaunchDescriptor* descriptor) const;
  // Every free descriptor is one of this area's, and free once.
  [[nodiscard]] bool is_valid() const;

  DeviceDriver& driver_;
  std::uint32_t queue_count_ = 0;
  std::uint32_t slots_log2_ = 0;
  wire::CommitMode commit_mode_ = wire::CommitMode::kFenceAndFlag;
  bool is_steady_ = false;
  std::byte* rings_ = nullptr;
  std::byte* read_positions_ = nullptr;
  std::byte* quiet_sites_ = nullptr;  // null: none
  std::byte* stray_ = nullptr;        // a word: 0, or a site's number behind 1
  DevicePointer heads_{};
  DevicePointer order_counters_{};
  std::vector<std::byte*> descriptor_chunks_;
  std::vector<wire::LaunchDescriptor*> free_descriptors_;
  StateMemory states_;
};

}  // namespace barracuda::session
