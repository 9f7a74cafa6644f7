#include "session/device_area.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "base/assert.h"
#include "base/strong_id.h"
#include "device_logger/order_number.h"
#include "session/store_atomicity_probe.h"
#include "session/unlogged_accesses.h"

namespace barracuda::session {
namespace {

constexpr std::uint32_t kMinimumQueues = 4;
constexpr std::size_t kDescriptorsPerChunk = 1024;

// A queue that the host empties long before it is full: a device that has to wait for the host runs
// instructions that are no part of the schedule.
constexpr std::uint64_t kSeededSlots = std::uint64_t{1} << 21;

bool is_seeded(const DeviceDriver& driver, const Options& options) {
  return options.seed && driver.is_emulated();
}

std::uint32_t queue_count_for(const DeviceDriver& driver, const Options& options) {
  // With one queue the order of the records is the order of execution, and so part of the schedule.
  if (is_seeded(driver, options)) {
    return 1;
  }
  if (options.queues != 0) {
    return static_cast<std::uint32_t>(options.queues);
  }
  if (driver.is_emulated()) {
    return kMinimumQueues;
  }
  return std::max(kMinimumQueues, driver.size().multiprocessors * 6 / 5);
}

}  // namespace

Expected<std::unique_ptr<DeviceArea>> DeviceArea::create(DeviceDriver& driver,
                                                         const Options& options) {
  std::uint64_t slots = options.queue_slots;
  if (!std::has_single_bit(slots) || slots < 128 || slots > (std::uint64_t{1} << 30)) {
    return unexpected({.message = "queue-slots must be a power of two from 128"});
  }
  const bool is_steady = is_seeded(driver, options);
  if (is_steady) {
    slots = std::max(slots, kSeededSlots);
  }
  const std::uint32_t queue_count = queue_count_for(driver, options);
  // The constructor is private: no make_unique.
  std::unique_ptr<DeviceArea> area(
      new DeviceArea(driver, queue_count, static_cast<std::uint32_t>(std::countr_zero(slots))));
  if (!area->allocate(has_quiet_sites(driver, options))) {
    const std::uint64_t bytes = queue_count * slots * wire::kSlotBytes;
    return unexpected({.message = "no memory for " + std::to_string(queue_count) + " log queues (" +
                                  std::to_string(bytes >> 20U) +
                                  " MiB of pinned host memory; see the options queues and "
                                  "queue-slots)"});
  }
  if (!driver.is_emulated() && options.filter != "off") {
    area->states_.reserve();
  }
  area->is_steady_ = is_steady;
  area->commit_mode_ = choose_commit_mode(driver, options);
  return area;
}

bool DeviceArea::has_quiet_sites(const DeviceDriver& driver, const Options& options) {
  return options.race_limit != 0 && UnloggedAccesses::are_wanted(options) &&
         !is_seeded(driver, options);
}

bool DeviceArea::allocate(bool has_quiet_sites) {
  constexpr std::size_t kQuietBytes = wire::kQuietWords * sizeof(std::uint32_t);
  if (has_quiet_sites) {
    quiet_sites_ = driver_.allocate_pinned(kQuietBytes);
    if (quiet_sites_ == nullptr) {
      return false;
    }
    std::memset(quiet_sites_, 0, kQuietBytes);
  }
  stray_ = driver_.allocate_pinned(sizeof(std::uint32_t));
  if (stray_ == nullptr) {
    return false;
  }
  std::memset(stray_, 0, sizeof(std::uint32_t));
  rings_ = driver_.allocate_pinned((std::size_t{queue_count_} * wire::kSlotBytes) << slots_log2_);
  read_positions_ = driver_.allocate_pinned(std::size_t{queue_count_} * wire::kReadPositionStride);
  heads_ = driver_.allocate_device(std::size_t{queue_count_} * wire::kHeadStride);
  order_counters_ =
      driver_.allocate_device(std::size_t{wire::kOrderCounters} * sizeof(std::uint32_t));
  return rings_ != nullptr && read_positions_ != nullptr && heads_ != DevicePointer{} &&
         order_counters_ != DevicePointer{} && add_descriptors();
}

bool DeviceArea::add_descriptors() {
  std::byte* const chunk =
      driver_.allocate_pinned(kDescriptorsPerChunk * sizeof(wire::LaunchDescriptor));
  if (chunk == nullptr) {
    return false;
  }
  ASSERT(reinterpret_cast<std::uintptr_t>(chunk) % alignof(wire::LaunchDescriptor) == 0);
  descriptor_chunks_.push_back(chunk);
  for (std::size_t i = 0; i < kDescriptorsPerChunk; ++i) {
    free_descriptors_.push_back(new (chunk + i * sizeof(wire::LaunchDescriptor))
                                    wire::LaunchDescriptor);
  }
  return true;
}

DeviceArea::~DeviceArea() {
  for (std::byte* const chunk : descriptor_chunks_) {
    driver_.free_pinned(chunk);
  }
  for (std::byte* const memory : {rings_, read_positions_, quiet_sites_, stray_}) {
    if (memory != nullptr) {
      driver_.free_pinned(memory);
    }
  }
  for (const DevicePointer memory : {heads_, order_counters_}) {
    if (memory != DevicePointer{}) {
      driver_.free_device(memory);
    }
  }
}

bool DeviceArea::has(const wire::LaunchDescriptor* descriptor) const {
  const auto address = reinterpret_cast<std::uintptr_t>(descriptor);
  return std::ranges::any_of(descriptor_chunks_, [&](const std::byte* chunk) {
    const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(chunk);
    return offset < kDescriptorsPerChunk * sizeof(wire::LaunchDescriptor) &&
           offset % sizeof(wire::LaunchDescriptor) == 0;
  });
}

bool DeviceArea::is_valid() const {
  std::vector<wire::LaunchDescriptor*> sorted = free_descriptors_;
  std::ranges::sort(sorted);
  return std::ranges::all_of(sorted, [this](const auto* each) { return has(each); }) &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

detector::QueueSet DeviceArea::queues() const {
  return {.rings = rings_,
          .queue_count = queue_count_,
          .slots_log2 = slots_log2_,
          .read_positions = read_positions_,
          .quiet_sites = quiet_sites_};
}

std::uint64_t DeviceArea::stray_address() const {
  return reinterpret_cast<std::uint64_t>(stray_);
}

std::optional<wire::SiteId> DeviceArea::take_stray() {
  const std::uint32_t noted =
      std::atomic_ref(*reinterpret_cast<std::uint32_t*>(stray_)).exchange(0);
  return noted == 0 ? std::nullopt : std::optional(wire::SiteId{noted - 1});
}

wire::LaunchDescriptor* DeviceArea::acquire(std::uint32_t launch) {
  if (free_descriptors_.empty() && !add_descriptors()) {
    return nullptr;
  }
  wire::LaunchDescriptor* const descriptor = free_descriptors_.back();
  free_descriptors_.pop_back();
  DEBUG_ASSERT(is_valid());
  *descriptor = wire::LaunchDescriptor{};
  descriptor->launch = launch & 0xFFFFU;
  descriptor->queue_count = queue_count_;
  descriptor->slots_log2 = slots_log2_;
  descriptor->rings = reinterpret_cast<std::uint64_t>(rings_);
  descriptor->heads = index_of(heads_);
  descriptor->read_positions = reinterpret_cast<std::uint64_t>(read_positions_);
  descriptor->order_counters = index_of(order_counters_);
  descriptor->commit_mode = commit_mode_;
  descriptor->quiet_sites = reinterpret_cast<std::uint64_t>(quiet_sites_);
  descriptor->steady_claims = is_steady_ ? 1 : 0;
  return descriptor;
}

void DeviceArea::release(wire::LaunchDescriptor* descriptor) {
  ASSERT(has(descriptor));
  free_descriptors_.push_back(descriptor);
  ASSERT(free_descriptors_.size() <= descriptor_chunks_.size() * kDescriptorsPerChunk);
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::session
