// The findings of a session: races are one for each pair of sites, kind and space; repeats are
// counted. Several threads may add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/race_event.h"

namespace barracuda::detector {

class RaceLog {
 public:
  // Counts the race if it is known with at least this severity; false where it must be add()ed.
  bool count_again(const RaceEvent& race);
  void add(RaceEvent race);
  void add(BarrierDivergence divergence);

  // Nobody may add meanwhile.
  [[nodiscard]] const Findings& findings() const { return findings_; }

 private:
  struct Identity {
    std::uint32_t low_site = 0, high_site = 0;
    RaceKind kind{};
    wire::AddressSpace space{};
    friend bool operator==(const Identity&, const Identity&) = default;

    friend std::size_t hash_value(const Identity& identity) {
      std::size_t seed = 0;
      boost::hash_combine(seed, identity.low_site);
      boost::hash_combine(seed, identity.high_site);
      boost::hash_combine(seed, static_cast<int>(identity.kind));
      boost::hash_combine(seed, static_cast<int>(identity.space));
      return seed;
    }
  };

  static Identity identity_of(const RaceEvent& race);

  std::mutex mutex_;
  Findings findings_;
  boost::unordered_flat_map<Identity, std::size_t> races_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> divergences_;  // by site and barrier
};

}  // namespace barracuda::detector
