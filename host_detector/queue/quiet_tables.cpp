#include "host_detector/queue/quiet_tables.h"

#include <algorithm>
#include <span>

#include "device_logger/record.h"

namespace barracuda::detector {
namespace {

using wire::RecordKind;

// A record of nothing but accesses: it orders nobody.
bool is_of_accesses(RecordKind kind) {
  constexpr RecordKind kKinds[] = {RecordKind::kAffine, RecordKind::kAffineValue,
                                   RecordKind::kScattered, RecordKind::kEarlier,
                                   RecordKind::kSettled};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

}  // namespace

void QuietTables::set(std::byte* table, wire::SiteId site) {
  const auto id = static_cast<std::uint32_t>(site);
  if (id < wire::kQuietSites) {
    auto* const words = reinterpret_cast<std::uint32_t*>(table);
    std::atomic_ref(words[id / 32]).fetch_or(1U << id % 32, std::memory_order_relaxed);
  }
}

void QuietTables::add(std::byte* table) {
  if (table == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const wire::SiteId site : sites_) {
    set(table, site);
  }
  tables_.push_back(table);
}

void QuietTables::remove(const std::byte* table) {
  const std::lock_guard lock(mutex_);
  std::erase(tables_, table);
}

void QuietTables::make_quiet(wire::SiteId site) {
  const std::lock_guard lock(mutex_);
  sites_.push_back(site);
  set(reinterpret_cast<std::byte*>(own_.data()), site);
  has_quiet_ = true;
  for (std::byte* const table : tables_) {
    set(table, site);
  }
}

void QuietTables::drop_from(RecordBatch& batch) const {
  if (!has_quiet_.load(std::memory_order_relaxed)) {
    return;
  }
  const auto word_at = [this](std::uint32_t i) {
    return std::atomic_ref(const_cast<std::uint32_t&>(own_[i])).load(std::memory_order_relaxed);
  };
  batch.drop_if([&](const wire::HeaderHalf& header) {
    return is_of_accesses(static_cast<RecordKind>(header.kind)) &&
           wire::has_quiet_bit(word_at, header.site);
  });
}

}  // namespace barracuda::detector
