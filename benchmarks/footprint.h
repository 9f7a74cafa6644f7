// How much memory a program touches, by its records, and how much this process has allocated: what
// the benchmarks hold against each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <malloc.h>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/clock/cta_clock.h"
#include "host_detector/queue/decode.h"

namespace barracuda::detector {

inline double allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

// Which bytes of a memory were touched.
class TouchedBytes {
 public:
  void add(std::uint64_t address, std::uint32_t bytes) {
    while (bytes > 0) {
      const auto first = static_cast<std::uint32_t>(address % kBits);
      const std::uint32_t fitting = std::min(bytes, kBits - first);
      const std::uint64_t all = ~std::uint64_t{0};
      bits_[address / kBits] |= all >> (kBits - fitting) << first;
      address += fitting;
      bytes -= fitting;
    }
  }

  [[nodiscard]] double count() const {
    double sum = 0;
    for (const auto& [place, bits] : bits_) {
      sum += std::popcount(bits);
    }
    return sum;
  }

 private:
  static constexpr std::uint32_t kBits = 64;

  boost::unordered_flat_map<std::uint64_t, std::uint64_t> bits_;
};

// What the accesses of some launches touch. Bulk copies do not count.
class Footprint {
 public:
  // The next site.
  void add(const wire::SiteInfo& site) {
    widths_.push_back(std::uint32_t{site.element_bytes} * site.element_count);
  }

  void add(LaunchId launch, std::span<const std::byte> record) {
    WarpOperation operation;
    if (!decode(record, operation) || operation.kind == wire::RecordKind::kEvent ||
        operation.kind == wire::RecordKind::kOperands) {
      return;
    }
    if (!operation.has_all_lanes) {
      operation = operation.with_all_lanes();
    }
    const std::uint32_t width = widths_.at(static_cast<std::size_t>(operation.site));
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t tagged =
          operation.lanes[static_cast<std::size_t>(std::countr_zero(rest))].address;
      const bool is_global = wire::space_of(tagged) == wire::AddressSpace::kGlobal;
      (is_global ? global_ : shared_[CtaKey(launch, operation.cta)])
          .add(wire::address_of(tagged), width);
    }
  }

  [[nodiscard]] double global_bytes() const { return global_.count(); }

  // Of all blocks.
  [[nodiscard]] double shared_bytes() const {
    double sum = 0;
    for (const auto& [block, touched] : shared_) {
      sum += touched.count();
    }
    return sum;
  }

 private:
  std::vector<std::uint32_t> widths_;  // by site
  TouchedBytes global_;
  boost::unordered_flat_map<CtaKey, TouchedBytes> shared_;
};

}  // namespace barracuda::detector
