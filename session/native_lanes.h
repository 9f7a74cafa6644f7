// The lanes of a warp with the values of all of them at once: what device_logger/write_record.h
// wants to know of lanes, for the host.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "device_logger/write_record.h"

namespace barracuda::session {

// By lane; those of lanes that are not active mean nothing.
using LaneWords = std::array<std::uint64_t, wire::kWarpLanes>;

struct NativeLanes {
  using Words = LaneWords;
  using Flags = std::uint32_t;

  std::uint32_t mask;
  std::uint32_t leader;

  explicit NativeLanes(std::uint32_t active)
      : mask(active), leader(static_cast<std::uint32_t>(std::countr_zero(active))) {}

  [[nodiscard]] static bool leads() { return true; }

  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(mask));
  }

  [[nodiscard]] static std::uint64_t value_at(const Words& words, std::uint32_t lane) {
    return words[lane];
  }

  [[nodiscard]] std::uint64_t common(const Words& words) const { return words[leader]; }

  [[nodiscard]] static std::uint64_t broadcast(std::uint64_t value) { return value; }

  // All 32 are looked at, without a branch, for the sake of vector instructions.
  template <class Predicate>
  [[nodiscard]] std::uint32_t which(const Words& words, const Predicate& is) const {
    std::uint32_t found = 0;
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      found |= static_cast<std::uint32_t>(is(lane, words[lane])) << lane;
    }
    return found & mask;
  }

  template <class Predicate>
  [[nodiscard]] bool none(const Words& words, const Predicate& is) const {
    return which(words, is) == 0;
  }

  // In lane order.
  template <class Work>
  void for_each(const Work& do_it) const {
    std::uint32_t rank = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      do_it(static_cast<std::uint32_t>(std::countr_zero(rest)), rank++);
    }
  }

  // No other of these lanes has its word.
  [[nodiscard]] bool is_alone(const Words& words, std::uint32_t lane) const {
    return std::has_single_bit(
        which(words, [&](std::uint32_t, std::uint64_t word) { return word == words[lane]; }));
  }

  [[nodiscard]] static std::uint64_t of(const Words& words, std::uint32_t lane) {
    return words[lane];
  }

  [[nodiscard]] static bool is_set(Flags flags, std::uint32_t lane) {
    return (flags >> lane & 1) != 0;
  }

  [[nodiscard]] Flags everywhere() const { return mask; }

  [[nodiscard]] bool all(Flags flags) const { return flags == mask; }

  [[nodiscard]] bool all_store_alike(const wire::StoredValues<NativeLanes>& values) const {
    return that_differ(values, leader) == 0;
  }

  [[nodiscard]] Flags alike_where_equal(const Words& addresses,
                                        const wire::StoredValues<NativeLanes>& values) const {
    Flags alike = 0;
    for (std::uint32_t rest = mask; rest != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint32_t group = which(addresses, [&](std::uint32_t, std::uint64_t address) {
        return address == addresses[first];
      });
      alike |= (that_differ(values, first) & group) == 0 ? group : 0;
      rest &= ~group;
    }
    return alike;
  }

  // Of the words of all lanes, each in its place.
  [[nodiscard]] std::uint64_t mixed(const Words& words) const {
    std::uint64_t all = 0;
    for_each([&](std::uint32_t lane, std::uint32_t) { all ^= wire::mix(words[lane], lane); });
    return all;
  }

  static void converge() {}

 private:
  [[nodiscard]] std::uint32_t that_differ(const wire::StoredValues<NativeLanes>& values,
                                          std::uint32_t from) const {
    return which(values.low, [&](std::uint32_t lane, std::uint64_t low) {
      return low != values.low[from] || values.high[lane] != values.high[from];
    });
  }
};

}  // namespace barracuda::session
