// R and W of memory locations (BARRACUDA, PLDI 2017, Figure 2): for each word the last write and
// the reads since, for each byte where narrower accesses came. Made on first touch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/assert.h"
#include "host_detector/clock/cta_clock.h"

namespace barracuda::detector::paper {

// What lanes of one instruction did to a location.
struct Stamp {
  CtaKey cta{};
  Time time = 0;  // 0: nothing
  std::uint32_t site = 0;
  std::uint32_t stack = 0;
  std::uint32_t lanes = 0;
  std::uint8_t warp = 0;
  bool agrees = false;  // stored what the other lanes of its instruction stored there

  [[nodiscard]] bool exists() const { return time != 0; }

  [[nodiscard]] bool is_same_instruction(const Stamp& other) const {
    return cta == other.cta && warp == other.warp && time == other.time && site == other.site &&
           stack == other.stack;
  }
};

// A set of reads, or of atomics: one, as long as each comes after the one before, else those of
// each warp.
class Reads {
 public:
  Reads() = default;

  Reads(const Reads& other)
      : one_(other.one_), many_(other.many_ ? std::make_unique<Many>(*other.many_) : nullptr) {}

  Reads(Reads&&) = default;
  Reads& operator=(Reads&&) = default;

  Reads& operator=(const Reads& other) { return *this = Reads(other); }

  ~Reads() = default;

  void clear() {
    one_ = Stamp();
    many_.reset();
  }

  // Adds a read; `is_before(stamp)` says of an earlier one that all of it is before this one.
  template <typename IsBefore>
  void add(const Stamp& read, IsBefore is_before);
  // Calls visit(stamp) for each.
  template <typename Visit>
  void for_each(Visit visit) const;

  // One, or those of warps, of which none has none.
  [[nodiscard]] bool is_valid() const {
    return many_ == nullptr ||
           (!one_.exists() && std::all_of(many_->by_warp.begin(), many_->by_warp.end(),
                                          [](const auto& each) { return !each.second.empty(); }));
  }

 private:
  using Stamps = boost::container::small_vector<Stamp, 1>;

  struct Warp {
    CtaKey cta{};
    std::uint8_t warp = 0;
    friend bool operator==(const Warp&, const Warp&) = default;

    friend std::size_t hash_value(const Warp& warp) {
      return static_cast<std::size_t>((warp.cta.packed() * 32 + warp.warp) * 0x9E3779B97F4A7C15ULL);
    }
  };

  struct Many {
    boost::unordered_flat_map<Warp, Stamps> by_warp;
    WorkId newest;
  };

  template <typename IsBefore>
  static void add_to(Stamps& stamps, const Stamp& read, IsBefore is_before);
  template <typename IsBefore>
  void forget_older_launches(const Stamp& read, IsBefore is_before);

  Stamp one_;
  std::unique_ptr<Many> many_;
};

// The paper keeps the last write alone, with a bit that says whether it was an atomic: a plain
// write is then forgotten behind an atomic, and one atomic behind the next, though a later access
// may race with them by the paper's definition (section 3.2). We keep them.
struct VariableState {
  Stamp write;          // W, of plain ones
  Reads atomics;        // since that
  Reads reads;          // R
  Reads relaxed_reads;  // of ld.relaxed: they race with plain writes alone
};

class Shadow {
 public:
  static constexpr std::uint64_t kWordBytes = 4;

  // Calls visit(state, first byte, bytes) for the variables of [address, address + bytes).
  template <typename Visit>
  void for_each(std::uint64_t address, std::uint64_t bytes, Visit visit);
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Word {
    VariableState whole;
    std::unique_ptr<std::array<VariableState, kWordBytes>> bytes;
  };

  static constexpr int kPageShift = 10;
  static constexpr std::uint64_t kPageWords = (std::uint64_t{1} << kPageShift) / kWordBytes;
  static_assert(kPageWords * kWordBytes == std::uint64_t{1} << kPageShift);
  using Page = std::array<Word, kPageWords>;

  Word& word(std::uint64_t address);

  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = 0;
  Page* last_ = nullptr;
};

template <typename IsBefore>
void Reads::add_to(Stamps& stamps, const Stamp& read, IsBefore is_before) {
  for (Stamp& earlier : stamps) {
    if (earlier.is_same_instruction(read)) {
      earlier.lanes |= read.lanes;
      return;
    }
  }
  stamps.erase(std::remove_if(stamps.begin(), stamps.end(), is_before), stamps.end());
  stamps.push_back(read);
}

template <typename IsBefore>
void Reads::forget_older_launches(const Stamp& read, IsBefore is_before) {
  if (many_->newest == read.cta.work()) {
    return;
  }
  many_->newest = read.cta.work();
  erase_if(many_->by_warp, [&](auto& each) {
    return std::all_of(each.second.begin(), each.second.end(), is_before);
  });
}

template <typename IsBefore>
void Reads::add(const Stamp& read, IsBefore is_before) {
  DEBUG_ASSERT(read.exists());
  if (many_ == nullptr) {
    if (one_.is_same_instruction(read)) {
      one_.lanes |= read.lanes;
      return;
    }
    if (!one_.exists() || is_before(one_)) {
      one_ = read;
      return;
    }
    many_ = std::make_unique<Many>();
    many_->newest = one_.cta.work();
    many_->by_warp[{.cta = one_.cta, .warp = one_.warp}].push_back(one_);
    one_ = Stamp();
  }
  forget_older_launches(read, is_before);
  add_to(many_->by_warp[{.cta = read.cta, .warp = read.warp}], read, is_before);
  DEBUG_ASSERT(is_valid());
}

template <typename Visit>
void Reads::for_each(Visit visit) const {
  if (one_.exists()) {
    visit(one_);
  }
  if (many_ != nullptr) {
    for (const auto& each : many_->by_warp) {
      std::for_each(each.second.begin(), each.second.end(), visit);
    }
  }
}

template <typename Visit>
void Shadow::for_each(std::uint64_t address, std::uint64_t bytes, Visit visit) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t start = address & ~(kWordBytes - 1);
    const std::uint64_t stop = std::min(end, start + kWordBytes);
    Word& here = word(start);
    if (here.bytes == nullptr && stop - address < kWordBytes) {
      here.bytes = std::make_unique<std::array<VariableState, kWordBytes>>();
      here.bytes->fill(here.whole);
      here.whole = VariableState();
    }
    if (here.bytes == nullptr) {
      visit(here.whole, address, kWordBytes);
    }
    for (std::uint64_t byte = address; here.bytes != nullptr && byte < stop; ++byte) {
      visit((*here.bytes)[byte - start], byte, std::uint64_t{1});
    }
    address = stop;
  }
}

}  // namespace barracuda::detector::paper
