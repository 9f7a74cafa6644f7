// Copies that a launch may still turn out to be unordered with, by the bytes that they touch. Most
// are never looked at: they are kept as they came until sort_in().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "host_detector/copy.h"
#include "host_detector/launches/launch_order.h"

namespace barracuda::detector {

// One piece of memory that a copy touches.
struct LiveCopy {
  CopyId id{};
  HostOperation operation = HostOperation::kCopy;
  CallId call{};
  MemoryRows rows;
};

class LiveCopies {
 public:
  [[nodiscard]] bool is_empty() const { return waiting_.empty() && pieces_.empty(); }

  // Some copy is not before `launch`.
  [[nodiscard]] bool has_others(LaunchId launch, const LaunchOrder& order) const;

  // Every launch that is before this copy is over. So a copy stands for older ones of its stream:
  // what is unordered with one of those is unordered with it.
  void add(const CopyInfo& copy, const LaunchOrder& order);

  // Before for_each(): sorts in what was added.
  void sort_in(const LaunchOrder& order);

  // Calls visit(copy, first, last) for the copies that touch bytes from `begin` to before `end`,
  // with each piece of them: from `first` to before `last`.
  template <typename Visit>
  void for_each(std::uint64_t begin, std::uint64_t end, Visit visit) const;

  // Where enough has come to make that worth it: drops those for which is_over(id), and of the
  // others what copies after them stand for.
  template <typename Predicate>
  void shrink(Predicate is_over, const LaunchOrder& order);

  void forget(std::uint64_t address, std::uint64_t bytes, const LaunchOrder& order);

  // The bytes were allocated, and the new owner comes after whoever freed them; or they were freed,
  // which ends the allocation's entry.
  void forget_all(HostOperation operation, std::uint64_t address, std::uint64_t bytes,
                  const LaunchOrder& order);

  // Pieces are not empty, none overlaps the next, and each has a copy.
  [[nodiscard]] bool is_valid() const;

  // Pieces and copies that are kept.
  [[nodiscard]] std::size_t size() const { return waiting_.size() + pieces_.size(); }

 private:
  using Pointer = std::shared_ptr<const LiveCopy>;

  struct Piece {
    std::uint64_t end = 0;
    boost::container::small_vector<Pointer, 2> copies;
  };

  using Pieces = std::map<std::uint64_t, Piece>;

  void put(std::uint64_t begin, std::uint64_t end, const Pointer& copy, const LaunchOrder& order);
  static void put(Piece& piece, const Pointer& copy, const LaunchOrder& order);
  void split(std::uint64_t at);
  // Makes pieces that end where the range does, of all that touches it.
  void cut_out(std::uint64_t address, std::uint64_t end, const LaunchOrder& order);

  static constexpr std::size_t kShrinkAt = 64;
  static constexpr std::uint64_t kFewRows = 16;

  std::vector<CopyId> newest_;     // none of them before another
  std::vector<LiveCopy> waiting_;  // not in pieces_ yet
  Pieces pieces_;                  // by their first byte; none overlaps another
  std::size_t shrink_at_ = kShrinkAt;
};

template <typename Visit>
void LiveCopies::for_each(std::uint64_t begin, std::uint64_t end, Visit visit) const {
  auto piece = pieces_.upper_bound(begin);
  if (piece != pieces_.begin()) {
    --piece;
  }
  for (; piece != pieces_.end() && piece->first < end; ++piece) {
    for (const Pointer& copy : piece->second.copies) {
      if (piece->second.end > begin) {
        visit(*copy, std::max(begin, piece->first), std::min(end, piece->second.end));
      }
    }
  }
}

template <typename Predicate>
void LiveCopies::shrink(Predicate is_over, const LaunchOrder& order) {
  if (size() < shrink_at_) {
    return;
  }
  std::erase_if(waiting_, [&](const LiveCopy& copy) { return is_over(copy.id); });
  // Each row would become a piece.
  const auto has_few_rows = [](const LiveCopy& copy) { return copy.rows.rows <= kFewRows; };
  if (std::ranges::all_of(waiting_, has_few_rows)) {
    sort_in(order);
  }
  for (auto piece = pieces_.begin(); piece != pieces_.end();) {
    auto& copies = piece->second.copies;
    copies.erase(std::remove_if(copies.begin(), copies.end(),
                                [&](const Pointer& copy) { return is_over(copy->id); }),
                 copies.end());
    piece = copies.empty() ? pieces_.erase(piece) : std::next(piece);
  }
  std::erase_if(newest_, is_over);
  shrink_at_ = std::max(kShrinkAt, 2 * size());
}

}  // namespace barracuda::detector
