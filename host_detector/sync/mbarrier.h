// An mbarrier, followed operation by operation as the device does (RACE_RULES section 1, mbarrier):
// its counts, and what its phases were given.
#pragma once

#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/clock/clock.h"
#include "host_detector/clock/completions.h"

namespace barracuda::detector {

class Mbarrier {
 public:
  static constexpr std::uint32_t kMaxCount = (1U << 20) - 1;
  static constexpr std::uint64_t kMaxBytes = (1U << 20) - 1;

  // What those who wait may take of the phases up to one.
  struct Given {
    Clock near;      // from threads of its own CTA
    Clock far;       // from others of the cluster
    Clock unscoped;  // from those of these that said no scope (RACE_RULES section 1, mbarrier)
    Time phase = 0;  // copies of phases up to this one are made
  };

  // `number` tells it from the other mbarriers of its CTA.
  explicit Mbarrier(std::uint32_t number) : number_(number) {}

  [[nodiscard]] std::uint32_t number() const { return number_; }

  // The stamp of a copy that completes on it now.
  [[nodiscard]] Time phase() const { return is_owed_ ? phase_ - 1 : phase_; }

  [[nodiscard]] bool is_valid() const { return is_valid_; }

  void init(std::uint32_t count);

  void invalidate() { is_valid_ = false; }

  [[nodiscard]] bool can_arrive(std::uint32_t count, bool drops) const {
    return count <= pending_ && (!drops || count <= expected_);
  }

  // With an arrival of `count` the phase is complete.
  [[nodiscard]] bool is_last(std::uint32_t count) const {
    return count == pending_ && has_its_bytes();
  }

  // The arrivers gave what they have before.
  void arrive(std::uint32_t count, bool drops);
  // Bytes that are still to come in this phase; negative: that came.
  void expect(std::int64_t bytes);

  // The same of an arrival that follows.
  void expect_before_arrival(std::int64_t bytes) { bytes_ += bytes; }

  // For a copy that completes on it and brings nobody knows how many. From now on phases are
  // complete by arrivals alone, or none would ever be. Copies that come behind an arrival that
  // expects bytes are of its phase, though that is complete: races with them are missed.
  void forget_bytes();

  Given& gathering() { return gathering_; }

  // Up to the newest complete phase, of `parity` unless that is wire::kUnknownParity.
  [[nodiscard]] const Given& complete(std::uint32_t parity) const;

 private:
  [[nodiscard]] bool has_its_bytes() const { return bytes_ == 0 || !counts_bytes_; }

  void open_if_complete();

  std::uint32_t number_;
  bool is_valid_ = false;
  bool counts_bytes_ = true;
  bool is_owed_ = false;  // the last complete phase has not all that it expected
  bool parity_ = false;   // of the phase that is not complete
  std::uint32_t expected_ = 0, pending_ = 0;
  std::int64_t bytes_ = 0;  // where what comes is not counted, what this phase expects
  Time phase_ = 0;
  Given gathering_;        // of this phase
  Given newest_, before_;  // up to the last phase that is complete, and the one before
};

// Those of one CTA, by their offset in its shared memory.
class MbarrierTable {
 public:
  // Null if there are too many.
  [[nodiscard]] Mbarrier* get(std::uint64_t offset);
  // Null where none is that is in use.
  [[nodiscard]] Mbarrier* find_valid(std::uint64_t offset);

 private:
  boost::unordered_flat_map<std::uint64_t, Mbarrier> mbarriers_;
};

}  // namespace barracuda::detector
