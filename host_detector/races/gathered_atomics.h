// Atomics that a CTA did between two synchronisations and that were not compared with anything yet.
// They never conflict with each other, and it is not known in which order they and other accesses
// of that time came: so those of a warp to one word are taken once, together, and the words of a
// block one after the other. Used by one thread; not while its CTA synchronises.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "host_detector/clock/cta_clock.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

struct CtaState;

// Lanes of one warp at one word, at one time, by one site.
struct GatheredAtomic {
  std::uint64_t tagged = 0;
  Time time = 0;
  std::uint32_t site = 0;
  std::uint32_t stack = 0;
  std::uint32_t lanes = 0;
  std::uint32_t warp = 0;
};

class GatheredAtomics {
 public:
  static constexpr std::size_t kMost = 4096;  // then they are to be taken

  [[nodiscard]] bool is_empty() const { return atomics_.empty(); }

  [[nodiscard]] bool is_full() const { return atomics_.size() + wire::kWarpLanes > kMost; }

  // Whose they are; null if there are none.
  [[nodiscard]] CtaState* cta() const { return is_empty() ? nullptr : cta_; }

  void add(CtaState& cta, const GatheredAtomic& atomic);

  // Calls visit(atomic) for all, those of a word and mostly those of a block together, and forgets
  // them.
  template <typename Visit>
  void take(Visit visit);

  // Each is in one chain.
  [[nodiscard]] bool is_valid() const;

 private:
  static constexpr std::uint32_t kChains = 1024, kNone = ~std::uint32_t{0};

  struct Link {
    GatheredAtomic atomic;
    std::uint32_t next = kNone;
  };

  static std::uint32_t chain_of(std::uint64_t tagged) {
    constexpr int kWordShift = 2, kBlockWordsLog2 = 5;
    const std::uint64_t word = tagged >> kWordShift, block = word >> kBlockWordsLog2;
    return static_cast<std::uint32_t>((word ^ (block >> kBlockWordsLog2) << kBlockWordsLog2) %
                                      kChains);
  }

  CtaState* cta_ = nullptr;
  std::vector<Link> atomics_;
  std::array<std::uint32_t, kChains> first_ = [] {
    std::array<std::uint32_t, kChains> none{};
    none.fill(kNone);
    return none;
  }();
};

template <typename Visit>
void GatheredAtomics::take(Visit visit) {
  for (std::uint32_t& first : first_) {
    for (std::uint32_t at = first; at != kNone; at = atomics_[at].next) {
      visit(atomics_[at].atomic);
    }
    first = kNone;
  }
  atomics_.clear();
}

inline void GatheredAtomics::add(CtaState& cta, const GatheredAtomic& atomic) {
  DEBUG_ASSERT((is_empty() || cta_ == &cta) && atomics_.size() < kMost);
  cta_ = &cta;
  std::uint32_t& first = first_[chain_of(atomic.tagged)];
  for (std::uint32_t at = first; at != kNone; at = atomics_[at].next) {
    GatheredAtomic& known = atomics_[at].atomic;
    if (known.tagged == atomic.tagged && known.warp == atomic.warp && known.time == atomic.time &&
        known.site == atomic.site && known.stack == atomic.stack) {
      known.lanes |= atomic.lanes;
      return;
    }
  }
  atomics_.push_back({.atomic = atomic, .next = first});
  first = static_cast<std::uint32_t>(atomics_.size() - 1);
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::detector
