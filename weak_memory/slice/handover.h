// Through what one thread's access may have come to be before another's: the accesses, fences and
// barriers that lie on a way from the one to the other, by program order, by reads of values that
// were written, and by barriers. Whether they order the two is for the memory model to say, not for
// this.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "weak_memory/slice/history.h"

namespace barracuda::weak_memory {

// Numbers of History::accesses().
struct AccessPair {
  std::size_t first = 0, second = 0;
};

struct Handover {
  std::vector<ThreadPlace> threads;            // the first's, the second's, then those in between
  std::set<std::size_t> accesses;              // besides the two, on a way
  std::map<std::size_t, std::size_t> sources;  // of those that read: whose write they saw
  std::set<std::size_t> barriers;
};

class Handovers {
 public:
  static constexpr std::size_t kMostThreads = 3;

  explicit Handovers(const History& history);

  // By the threads that may lie in between, the likeliest first; with none at all the two are alone
  // in the first one. Empty: every way goes through more than kMostThreads threads.
  [[nodiscard]] std::vector<Handover> between(const AccessPair& pair) const;

 private:
  void link();
  [[nodiscard]] bool synchronise(const HistoryAccess& write, const HistoryAccess& read) const;

  const History& history_;
  std::vector<std::optional<std::size_t>> sources_;  // by access: the write that it read from
};

}  // namespace barracuda::weak_memory
