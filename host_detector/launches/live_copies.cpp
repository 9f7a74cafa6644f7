#include "host_detector/launches/live_copies.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace barracuda::detector {

bool LiveCopies::has_others(LaunchId launch, const LaunchOrder& order) const {
  return std::ranges::any_of(newest_,
                             [&](CopyId newest) { return !order.is_before(newest, launch); });
}

void LiveCopies::add(const CopyInfo& copy, const LaunchOrder& order) {
  for (const MemoryRows& rows : copy.accesses) {
    if (rows.row_bytes != 0 && rows.rows != 0) {
      waiting_.push_back(
          {.id = copy.id, .operation = copy.operation, .call = copy.call, .rows = rows});
    }
  }
  // No kernel writes constants: launches need not look for who reads them.
  const bool is_met = copy.operation != HostOperation::kConstants;
  if (is_met && (newest_.empty() || newest_.back() != copy.id)) {
    std::erase_if(newest_, [&](CopyId older) { return order.is_before(older, copy.id); });
    newest_.push_back(copy.id);
  }
}

void LiveCopies::sort_in(const LaunchOrder& order) {
  for (const LiveCopy& copy : waiting_) {
    const auto shared = std::make_shared<const LiveCopy>(copy);
    for (std::uint64_t row = 0; row < copy.rows.rows; ++row) {
      const std::uint64_t begin = copy.rows.address + row * copy.rows.pitch;
      put(begin, begin + copy.rows.row_bytes, shared, order);
    }
  }
  waiting_.clear();
  DEBUG_ASSERT(is_valid());
}

bool LiveCopies::is_valid() const {
  std::uint64_t end = 0;
  for (const auto& [begin, piece] : pieces_) {
    if (begin < end || piece.end <= begin || piece.copies.empty()) {
      return false;
    }
    end = piece.end;
  }
  return true;
}

// A piece that holds `at` inside becomes two.
void LiveCopies::split(std::uint64_t at) {
  auto piece = pieces_.upper_bound(at);
  if (piece == pieces_.begin()) {
    return;
  }
  --piece;
  if (piece->first < at && at < piece->second.end) {
    Piece upper = piece->second;
    piece->second.end = at;
    pieces_.emplace_hint(std::next(piece), at, std::move(upper));
  }
}

// An allocation is forgotten when its bytes are freed, so it stands for no copy before it.
void LiveCopies::put(Piece& piece, const Pointer& copy, const LaunchOrder& order) {
  auto& copies = piece.copies;
  const bool may_replace_others = copy->operation != HostOperation::kAllocation;
  const auto is_replaced = [&](const Pointer& older) {
    return (may_replace_others || older->operation == copy->operation) &&
           (copy->rows.is_written || !older->rows.is_written) &&
           (older->id == copy->id || order.is_before(older->id, copy->id));
  };
  const auto replaced = std::ranges::remove_if(copies, is_replaced);
  copies.erase(replaced.begin(), replaced.end());
  copies.push_back(copy);
}

void LiveCopies::put(std::uint64_t begin, std::uint64_t end, const Pointer& copy,
                     const LaunchOrder& order) {
  split(begin);
  split(end);
  auto piece = pieces_.lower_bound(begin);
  while (begin < end) {
    if (piece == pieces_.end() || piece->first > begin) {
      const std::uint64_t gap_end = piece == pieces_.end() ? end : std::min(end, piece->first);
      piece = pieces_.emplace_hint(piece, begin, Piece{.end = gap_end, .copies = {}});
    }
    put(piece->second, copy, order);
    begin = piece->second.end;
    ++piece;
  }
}

void LiveCopies::cut_out(std::uint64_t address, std::uint64_t end, const LaunchOrder& order) {
  const auto touches = [&](const LiveCopy& copy) {
    const std::uint64_t last =
        copy.rows.address + (copy.rows.rows - 1) * copy.rows.pitch + copy.rows.row_bytes;
    return copy.rows.address < end && last > address;
  };
  if (std::ranges::any_of(waiting_, touches)) {
    sort_in(order);
  }
  split(address);
  split(end);
}

void LiveCopies::forget(std::uint64_t address, std::uint64_t bytes, const LaunchOrder& order) {
  if (is_empty()) {
    return;
  }
  cut_out(address, address + bytes, order);
  pieces_.erase(pieces_.lower_bound(address), pieces_.lower_bound(address + bytes));
  DEBUG_ASSERT(is_valid());
}

void LiveCopies::forget_all(HostOperation operation, std::uint64_t address, std::uint64_t bytes,
                            const LaunchOrder& order) {
  if (is_empty()) {
    return;
  }
  cut_out(address, address + bytes, order);
  const auto is_one = [&](const Pointer& copy) { return copy->operation == operation; };
  const auto end = pieces_.lower_bound(address + bytes);
  for (auto piece = pieces_.lower_bound(address); piece != end;) {
    auto& copies = piece->second.copies;
    const auto gone = std::ranges::remove_if(copies, is_one);
    copies.erase(gone.begin(), gone.end());
    piece = copies.empty() ? pieces_.erase(piece) : std::next(piece);
  }
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::detector
