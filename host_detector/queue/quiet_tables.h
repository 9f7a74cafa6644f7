// The tables in which kernels look up which sites are logged no more (device_logger/quiet_sites.h):
// one for each device context. What they have logged before and nobody has looked at yet is dropped
// here: there may be a gigabyte of it. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device_logger/quiet_sites.h"
#include "device_logger/site_info.h"
#include "host_detector/queue/ring_reader.h"

namespace barracuda::detector {

class QuietTables {
 public:
  // u32[kQuietWords], zeroed. Null: there is none.
  void add(std::byte* table);
  // It is not written any more when this returns.
  void remove(const std::byte* table);
  // From now on, in all tables and in those to come.
  void make_quiet(wire::SiteId site);

  // What such sites have accessed.
  void drop_from(RecordBatch& batch) const;

 private:
  std::mutex mutex_;
  std::vector<std::byte*> tables_;
  // The host's own table, which is read without the mutex.
  std::vector<std::atomic<std::uint32_t>> own_ =
      std::vector<std::atomic<std::uint32_t>>(wire::kQuietWords);
  std::atomic<bool> has_quiet_{false};  // some bit of it is set
};

}  // namespace barracuda::detector
