// A relation between the events of one execution, at most 64 of them, as a row of bits for each.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"

namespace barracuda::memory_model {

inline constexpr std::size_t kMostEvents = 64;
static_assert(kMostEvents == 8 * sizeof(std::uint64_t), "a row is a word");

class Relation {
 public:
  void add(std::size_t from, std::size_t to) {
    DEBUG_ASSERT(from < kMostEvents && to < kMostEvents);
    rows_[from] |= std::uint64_t{1} << to;
  }

  [[nodiscard]] bool has(std::size_t from, std::size_t to) const {
    return ((rows_[from] >> to) & 1) != 0;
  }

  [[nodiscard]] std::uint64_t from(std::size_t event) const { return rows_[event]; }

  friend Relation operator|(Relation left, const Relation& right) {
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      left.rows_[i] |= right.rows_[i];
    }
    return left;
  }

  friend Relation operator&(Relation left, const Relation& right) {
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      left.rows_[i] &= right.rows_[i];
    }
    return left;
  }

  // a;b of the papers: first `left`, then `right`.
  [[nodiscard]] Relation then(const Relation& right) const {
    Relation both;
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      for (std::uint64_t rest = rows_[i]; rest != 0; rest &= rest - 1) {
        both.rows_[i] |= right.rows_[static_cast<std::size_t>(std::countr_zero(rest))];
      }
    }
    return both;
  }

  [[nodiscard]] Relation inverse() const {
    Relation back;
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      for (std::uint64_t rest = rows_[i]; rest != 0; rest &= rest - 1) {
        back.add(static_cast<std::size_t>(std::countr_zero(rest)), i);
      }
    }
    return back;
  }

  // One step or more (Warshall, "A theorem on Boolean matrices", 1962).
  [[nodiscard]] Relation closure() const {
    Relation all = *this;
    for (std::size_t via = 0; via < kMostEvents; ++via) {
      for (auto& row : all.rows_) {
        if (((row >> via) & 1) != 0) {
          row |= all.rows_[via];
        }
      }
    }
    return all;
  }

  // None, or one step: r? of the papers.
  [[nodiscard]] Relation or_none() const {
    Relation all = *this;
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      all.add(i, i);
    }
    return all;
  }

  [[nodiscard]] bool is_irreflexive() const {
    for (std::size_t i = 0; i < kMostEvents; ++i) {
      if (has(i, i)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_acyclic() const { return closure().is_irreflexive(); }

  [[nodiscard]] bool is_empty() const { return *this == Relation(); }

  friend bool operator==(const Relation&, const Relation&) = default;

 private:
  std::array<std::uint64_t, kMostEvents> rows_{};
};

}  // namespace barracuda::memory_model
