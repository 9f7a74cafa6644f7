// The findings of a session: races are one for each pair of sites, kind and space; repeats are
// counted. Several threads may add.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/race_event.h"

namespace barracuda::detector {

struct WarpOperation;

class RaceLog {
 public:
  static constexpr std::uint64_t kWarningsMore = 10;

  // Races with the same are one.
  struct Identity {
    std::uint32_t low_site = 0, high_site = 0;
    RaceKind kind{};
    wire::AddressSpace space{};

    static Identity of(std::uint32_t site, std::uint32_t other, RaceKind kind,
                       wire::AddressSpace space);
    static Identity of(const RaceEvent& race);
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

  RaceLog();

  using Tell = std::function<void(wire::SiteId)>;

  // Who decides which sites fall silent with one that races often enough, and tells them; else it
  // is that site.
  void let_choose(std::function<void(wire::SiteId, const Tell&)> choose) {
    choose_ = std::move(choose);
  }

  // From now on `on_enough` is called for each site that need not be logged any more: once for one
  // of a race that has been counted `most` times, and `most` times kWarningsMore of a warning,
  // which may yet become an error (0: never), and for one that has told all its places. Called on
  // any thread that adds, and must not call this log.
  void limit(std::uint64_t most, Tell on_enough);

  // Counts the race, `count` times from `address` on, if it is known with at least this severity;
  // false where it must be add()ed. Cheap: a program may race a million times.
  bool count_again(const Identity& identity, Severity severity, std::uint64_t address,
                   std::uint64_t count);
  bool count_again(const RaceEvent& race);
  void add(RaceEvent race);
  void add(BarrierDivergence divergence);
  void add_unknown_map(wire::SiteId site);
  // What a kSharedPlace tells. Of a site they come in descending order of their numbers.
  void add_place(const WarpOperation& operation);

  // Grows with every new finding and every one that became worse.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

  // Not while another thread adds.
  [[nodiscard]] const Findings& findings() const;
  // While others add.
  [[nodiscard]] Findings findings_so_far() const;

 private:
  struct Known {
    std::atomic<std::uint64_t> count{0};
    std::atomic<Severity> severity{Severity::kWarning};
    std::atomic<bool> is_told{false};  // that it is frequent
    std::atomic<bool> is_elsewhere{false};
    std::atomic<std::uint64_t> address{0};  // where it was first

    void note(std::uint64_t at, std::uint64_t times);
    void add_to(RaceEvent& race) const;
  };

  struct Recent;

  void tell_if_frequent(Known& known, const Identity& identity, std::uint64_t count) const;
  // Null if there is none.
  Known* find(const Identity& identity);

  std::uint64_t limit_ = 0;
  Tell on_enough_;
  std::function<void(wire::SiteId, const Tell&)> choose_ = [](wire::SiteId site, const Tell& tell) {
    tell(site);
  };
  const std::uint64_t number_;  // no two logs have one
  std::atomic<std::uint64_t> changes_{0};
  mutable std::mutex mutex_;
  mutable Findings findings_;  // but for how often
  std::deque<Known> known_;    // of each race there
  boost::unordered_flat_map<Identity, std::size_t> races_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> divergences_;  // by site, barrier, severity
};

}  // namespace barracuda::detector
