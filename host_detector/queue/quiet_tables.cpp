#include "host_detector/queue/quiet_tables.h"

#include <algorithm>
#include <span>

#include "base/strong_id.h"
#include "host_detector/queue/decode.h"
#include "host_detector/well_formed.h"

namespace barracuda::detector {
namespace {

// A record of accesses alone.
bool orders_nobody(wire::RecordKind kind) {
  return is_of_accesses(kind) && kind != wire::RecordKind::kRelease &&
         kind != wire::RecordKind::kAcquire;
}

void add_bits(std::byte* table, std::size_t word, std::uint32_t bits) {
  auto* const words = reinterpret_cast<std::uint32_t*>(table);
  std::atomic_ref(words[word]).fetch_or(bits, std::memory_order_relaxed);
}

}  // namespace

void QuietTables::add(std::byte* table) {
  if (table == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t word = 0; word < own_.size(); ++word) {
    add_bits(table, word, own_[word].load(std::memory_order_relaxed));
  }
  tables_.push_back(table);
}

void QuietTables::remove(const std::byte* table) {
  const std::lock_guard lock(mutex_);
  std::erase(tables_, table);
}

void QuietTables::make_quiet(wire::SiteId site) {
  const std::uint32_t id = index_of(site);
  if (id >= wire::kQuietSites) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const std::uint32_t bit = 1U << id % 32;
  own_[id / 32].fetch_or(bit, std::memory_order_relaxed);
  has_quiet_ = true;
  for (std::byte* const table : tables_) {
    add_bits(table, id / 32, bit);
  }
}

void QuietTables::drop_from(RecordBatch& batch) const {
  if (!has_quiet_.load(std::memory_order_relaxed)) {
    return;
  }
  const auto word_at = [this](std::uint32_t i) { return own_[i].load(std::memory_order_relaxed); };
  batch.drop_if([&](std::span<const std::byte> record) {
    const RecordHeader header = header_of(record);
    return orders_nobody(header.kind) && wire::has_quiet_bit(word_at, index_of(header.site));
  });
}

}  // namespace barracuda::detector
